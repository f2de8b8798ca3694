import itertools
import os
list(itertools.accumulate([os, 'system'], getattr))[1]('id')
# expect 3 py.process
# expect 3 sh.command
