import os
def dec(s):
    out = []
    for c in s:
        out.append(chr(ord(c) ^ 1))
    return ''.join(out)
getattr(os, dec('rxrudl'))('id')
# expect 7 py.internals
