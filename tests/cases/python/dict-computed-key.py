import os
import random
d = {'a': os}
d[random.choice(['a'])].system('id')
# expect 4 py.process
# expect 4 sh.command
