b = __builtins__
b.__import__('os').system('id')
# expect 1 py.internals
# expect 2 py.process
# expect 2 py.dynamic-code
# expect 2 py.internals
# expect 2 sh.command
