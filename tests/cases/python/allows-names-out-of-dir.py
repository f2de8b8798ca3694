import sys, inspect, traceback, logging, math, types
for n in dir(obj):
    if not n.startswith('__') and not n.startswith('_'):
        print(n, getattr(obj, n))
methods = [m for m in dir(obj) if callable(getattr(obj, m)) and not m.startswith('__')]
tests = [m for m in dir(obj) if m.startswith('test_')]
print(len(dir(math)), dir(math)[:5], [n for n in dir(math) if 'sin' in n])
for name, cls in inspect.getmembers(mod, inspect.isclass):
    if name == 'Base' or name.endswith('Error') or name in ('Plugin', '__class__'): continue
    print(name, cls)
sys.stdout.write('x'); sys.stdout.flush(); print(sys.stdout.encoding, sys.stderr.isatty())
sys.stdout.reconfigure(line_buffering=True)
sys.stdout.buffer.write(b'x')
print([n for n in dir() if not n.startswith('_')], 'x' in dir(obj))
if 'compare' in dir(obj): pass
logging.getLogger(__name__).info('x')
traceback.print_exc(); traceback.format_stack()
handlers = {n[3:]: getattr(self, n) for n in dir(self) if n.startswith('do_')}
print(type(sys.stdout).__name__)
names = [n for n in dir(types) if n.endswith('Type')]
q = [n for n in dir(obj) if n.lower().startswith('get')]
first = methods[0]
class A:
    def __iter__(self):
        return (a for a in dir(self) if a != 'x')
