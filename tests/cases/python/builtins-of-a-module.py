import re
re.__builtins__['__import__']('os').system('id')
# expect 2 py.process
# expect 2 py.dynamic-code
# expect 2 sh.command
# expect 2 py.internals
