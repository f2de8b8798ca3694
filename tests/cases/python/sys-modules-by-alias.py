import sys as s
t = s.modules
t['os'].system('id')
# expect 2 py.internals
# expect 3 py.process
# expect 3 py.internals
# expect 3 sh.command
