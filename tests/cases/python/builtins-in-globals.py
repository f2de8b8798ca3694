globals()['__builtins__'].__import__('os').system('id')
# expect 1 py.process
# expect 1 py.dynamic-code
# expect 1 py.internals
# expect 1 sh.command
