import os
(1, os, 2)[1:2][0].system('id')
# expect 2 py.process
# expect 2 sh.command
