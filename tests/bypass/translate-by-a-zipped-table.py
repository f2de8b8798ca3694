import os
getattr(os, 'abc'.translate(dict(zip(map(ord, 'abc'), ['s', 'yst', 'em']))))("id")
# expect 2 py.internals
# known-miss: a table of translate that is not followed
