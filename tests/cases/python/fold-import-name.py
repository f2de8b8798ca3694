__import__('o' + 's').system('id')
# expect 1 py.process
# expect 1 py.dynamic-code
# expect 1 sh.command
