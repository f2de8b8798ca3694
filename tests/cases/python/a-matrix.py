import os
m = [[None] * 2 for _ in range(2)]
m[1][0] = os
m[1][0].system('id')
# expect 4 py.process
# expect 4 sh.command
