import os
import string
getattr(os, string.Template('${a}tem').substitute(a='sys'))('id')
# expect 3 py.internals
