import os
x = ['getcwd']
import operator
operator.setitem(x, 0, 'system')
getattr(os, x[0])("id")
# expect 5 py.internals
