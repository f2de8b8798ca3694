__import__('so'[::-1]).system('id')
# expect 1 py.process
# expect 1 py.dynamic-code
# expect 1 sh.command
