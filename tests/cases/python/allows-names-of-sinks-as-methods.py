class Engine:
    def system(self, x):
        return x
    def popen(self, x):
        return x
    def eval(self, x):
        return x
    def exec(self, x):
        return x
    def kill(self):
        return 1
e = Engine()
print(e.system('id'), e.popen('id'), e.eval('1'), e.exec('1'), e.kill())
