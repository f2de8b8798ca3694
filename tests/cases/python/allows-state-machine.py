class Machine:
    def __init__(self):
        self.state = self.start
    def start(self, c):
        return self.middle if c == 'a' else self.start
    def middle(self, c):
        return self.start
    def run(self, text):
        for c in text:
            self.state = self.state(c)
        return self.state.__name__
print(Machine().run('ab'))
