getattr(__import__(chr(111)+chr(115)),'system')('id')
# expect 1 py.process
# expect 1 sh.command
# expect 1 py.dynamic-code
