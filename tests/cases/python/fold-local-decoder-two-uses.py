import os
def j(*parts):
    return ''.join(parts)
print(j('a', 'b'))
getattr(os, j('sys', 'tem'))('id')
# expect 5 py.process
# expect 5 sh.command
