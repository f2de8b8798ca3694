from sys import modules
modules.get('os').system('id')
# expect 1 py.internals
# expect 2 py.process
# expect 2 py.internals
# expect 2 sh.command
