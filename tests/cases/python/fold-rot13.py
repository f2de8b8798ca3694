import codecs
import os
getattr(os, codecs.decode('flfgrz', 'rot13'))('id')
# expect 3 py.process
# expect 3 sh.command
