from os import popen as p
p('nohup FILE').read()
# expect 1 py.process
# expect 2 py.process
# expect 2 sh.command
