import os
x = {}
x['k'] = os
x['k'].system('id')
# expect 4 py.process
# expect 4 sh.command
