import os
n='getcwd'
n='system'
getattr(os,n)('id')
# expect 4 py.process
# expect 4 sh.command
