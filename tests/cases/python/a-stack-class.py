import os
class Stack:
    def __init__(self):
        self.items = []
    def push(self, x):
        self.items.append(x)
    def pop(self):
        return self.items.pop()
s = Stack()
s.push(os)
s.pop().system('id')
# expect 11 py.process
# expect 11 sh.command
