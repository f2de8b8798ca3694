import os
getattr(os, r'\x73ystem'.encode().decode('unicode_escape'))('id')
# expect 2 py.process
# expect 2 sh.command
