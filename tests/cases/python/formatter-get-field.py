import os
import string
string.Formatter().get_field('0.system', (os,), {})[0]('id')
# expect 3 py.dynamic-code
