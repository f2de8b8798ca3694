import os
def dec(s):
    return s[::-1]
getattr(os, dec('metsys'))('id')
# expect 4 py.process
# expect 4 sh.command
