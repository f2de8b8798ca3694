import contextlib
@contextlib.contextmanager
def tag(name):
    print('<' + name + '>')
    yield name
    print('</' + name + '>')
with tag('a') as n, contextlib.suppress(KeyError):
    print(n)
    {}['x']
