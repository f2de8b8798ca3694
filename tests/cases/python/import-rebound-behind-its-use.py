__import__('os').system('id')
__import__ = 1
# expect 1 py.dynamic-code
# expect 1 sh.command
# expect 1 py.process
