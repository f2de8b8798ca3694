class E:
    def __init__(self, f):
        self.f = f
    def __call__(self, s):
        return self.f(s)
E(eval)("print('uid=')")
# expect 3 py.dynamic-code
# expect 5 py.dynamic-code
# expect 6 py.dynamic-code
