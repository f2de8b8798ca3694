import os
def __getattr__(name):
    return os
import __main__
__main__.x.system('id')
# expect 5 py.process
# known-miss: the getattr of a module of this source is not called
