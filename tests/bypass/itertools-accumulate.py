import itertools
import os
list(itertools.accumulate([os, 'system'], getattr))[1]('id')
# expect 4 py.process
# known-miss: accumulate does not call with two arguments
