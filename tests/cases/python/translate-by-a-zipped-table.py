import os
getattr(os, 'abc'.translate(dict(zip(map(ord, 'abc'), ['s', 'yst', 'em']))))("id")
# expect 2 py.process
# expect 2 sh.command
