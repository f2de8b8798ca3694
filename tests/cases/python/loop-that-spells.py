name = ''
for c in (0x73, 0x79):
    name = name + chr(c)
x = ()
for step in ('class', 'base', 'subclasses'):
    x = getattr(x, '__' + step + '__')
print(x())
# expect 6 py.internals
