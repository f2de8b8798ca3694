class Emitter:
    def __init__(self):
        self.handlers = {}
    def on(self, name, f):
        self.handlers.setdefault(name, []).append(f)
    def emit(self, name, *args, **kwargs):
        for f in self.handlers.get(name, []):
            f(*args, **kwargs)
e = Emitter()
e.on('x', print)
e.on('x', lambda *a: None)
e.emit('x', 1, 2)
