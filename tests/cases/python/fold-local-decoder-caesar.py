import os
def dec(s, n):
    return ''.join(chr(ord(c) - n) for c in s)
getattr(os, dec('v|vwhp', 3))('id')
# expect 4 py.process
# expect 4 sh.command
