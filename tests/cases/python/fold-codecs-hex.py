import codecs
import os
getattr(os, codecs.decode('73797374656d', 'hex').decode())('id')
# expect 3 py.process
# expect 3 sh.command
