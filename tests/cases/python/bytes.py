__import__(bytes([111,115]).decode()).system('id')
# expect 1 py.process
# expect 1 py.dynamic-code
# expect 1 sh.command
