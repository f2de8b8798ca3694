class Proxy:
    def __init__(self, target):
        self._target = target
    def __getattr__(self, name):
        return getattr(self._target, name)
print(Proxy([1, 2]).count(1), Proxy('a').upper())
