import os
getattr(os, ''.join(a + b for a, b in zip('sse', 'ytm')))('id')
# expect 2 py.process
# expect 2 sh.command
