import itertools
import os
next(itertools.repeat(os)).system('id')
# expect 3 py.process
# expect 3 sh.command
