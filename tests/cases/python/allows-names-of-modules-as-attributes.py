class Machine:
    def __init__(self):
        self.os = 'linux'
        self.system = 'x86'
        self.eval = None
m = Machine()
print(m.os.upper(), m.system.lower(), m.eval)
