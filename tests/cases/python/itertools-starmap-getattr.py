import itertools
import os
next(itertools.starmap(getattr, [(os, 'system')]))('id')
# expect 3 py.process
# expect 3 sh.command
