import os, operator
OPS = {'+': operator.add}
class Net:
    layers = {'a': lambda x: x}
    def run(self, x):
        return self.layers[self.kind](x) + OPS[x](1, 2) + make(3)(4)
port = int(os.environ.get('PORT', 5000)) + int(os.environ['WORKERS'])
