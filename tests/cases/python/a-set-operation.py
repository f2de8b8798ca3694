import os
({os} | {1}).pop()
[m for m in {os} & {os}][0].system('id')
# expect 3 py.process
# expect 3 sh.command
