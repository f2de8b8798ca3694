import os
class Command:
    def __init__(self, f, *args):
        self.f, self.args = f, args
    def execute(self):
        return self.f(*self.args)
Command(lambda m: m.system('id'), os).execute()
# expect 7 py.process
# expect 7 sh.command
