import os
class A:
    def __init__(self): self.x = []
    def add(self, s): self.x.append(s); return self
    def get(self): return ''.join(self.x)
getattr(os, A().add('sys').add('tem').get())("id")
# expect 6 py.internals
