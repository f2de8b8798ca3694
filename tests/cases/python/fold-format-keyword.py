import os
getattr(os, '{a}tem'.format(a='sys'))('id')
# expect 2 py.process
# expect 2 sh.command
