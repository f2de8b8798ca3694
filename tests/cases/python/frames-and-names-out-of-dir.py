import traceback, sys, logging, inspect, asyncio
from traceback import walk_stack
from logging import currentframe as cf
f = some()
x = [getattr(f, a) for a in dir(f) if a == '__closure__'][0]
x = [getattr(f, a) for a in dir(f) if a in ('f_back', 'z')]
for a in dir(f):
    if a != 'f_globals': continue
    print(getattr(f, a))
x = next(a for a in dir(f) if a.endswith('closure__'))
x = [a for a in dir(f) if 'builtin' in a]
x = list(filter(lambda a: a.startswith('f_b'), dir(f)))
k = sorted(dir(f))[5]
for a, v in inspect.getmembers(f):
    if a == '__globals__': print(v)
import re
x = [a for a in dir(f) if re.match('^__glob', a)]
x = [a for a in dir(f) if a[2:9] == 'closure']
x = [getattr(f, a) for a in dir(f) if len(a) == 11][0]
x = list(map(lambda a: getattr(f, a), dir(f)))[3]
c = sys.stdout._channel
c = getattr(sys.stderr, '_channel')
c = vars(sys.stdout)
o = sys.stdout
o._channel.send = 1
c = type(sys.stdout)._x
c = sys.displayhook._y
asyncio.current_task().get_stack()
asyncio.Task.get_stack(t)
e.__traceback__.tb_frame.f_back
g.gi_frame
f.__closure__[0].cell_contents
logging.currentframe()
sys.monitoring.use_tool_id(1, 'x')
import threading
threading.settrace_all_threads(f)
d = type(f).__dict__
for k2, v2 in d.items():
    if k2 == '__globals__': print(v2)
n = 'f_' + 'back'
x = [a for a in dir(f) if a == n]
x = dict(inspect.getmembers(f))
print(x['__globals__'])
# expect 2 py.internals
# expect 3 py.internals
# expect 5 py.internals
# expect 6 py.internals
# expect 8 py.internals
# expect 10 py.internals
# expect 11 py.internals
# expect 12 py.internals
# expect 15 py.internals
# expect 17 py.internals
# expect 18 py.internals
# expect 19 py.internals
# expect 20 py.internals
# expect 21 py.internals
# expect 22 py.internals
# expect 23 py.internals
# expect 25 py.internals
# expect 26 py.internals
# expect 27 py.internals
# expect 28 py.internals
# expect 29 py.internals
# expect 30 py.internals
# expect 31 py.internals
# expect 32 py.internals
# expect 33 py.internals
# expect 34 py.internals
# expect 36 py.internals
# expect 39 py.internals
# expect 40 py.internals
# expect 41 py.internals
# expect 43 py.internals
