list(map(__import__, ['os']))[0].system('id')
# expect 1 py.process
# expect 1 sh.command
# expect 1 py.dynamic-code
