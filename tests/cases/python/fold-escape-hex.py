import os
getattr(os, '\x73\x79\x73\x74\x65\x6d')('id')
# expect 2 py.process
# expect 2 sh.command
