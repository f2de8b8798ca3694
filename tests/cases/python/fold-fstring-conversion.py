import os
getattr(os, f'{"system"!s:.6}')('id')
# expect 2 py.process
# expect 2 sh.command
