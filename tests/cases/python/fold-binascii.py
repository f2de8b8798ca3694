import binascii
import os
getattr(os, binascii.unhexlify('73797374656d').decode())('id')
# expect 3 py.process
# expect 3 sh.command
