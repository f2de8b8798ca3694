# under default: the function that accepts files as judged code, through the channel of sys.stdout
import sys, hashlib
from pathlib import Path
code = b"open('proof', 'w').write('a file that was not judged ran')\n"
r = sys.stdout._channel.receive
cells = [getattr(r, a) for a in dir(r) if a == '__closure__'][0]
go = [c.cell_contents for c in cells if getattr(c.cell_contents, '__name__', '') == 'accept'][0]
go(hashlib.sha256(code).digest())
Path('unjudged_r' + Path('x.py').suffix).write_bytes(code)
import unjudged_r
# expect 5 py.internals
# expect 6 py.internals
# expect 7 py.internals
