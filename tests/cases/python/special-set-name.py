import os
class D:
    m = os
    def __set_name__(self, owner, name):
        getattr(self.m, name)('id')
class A:
    system = D()
# expect 5 py.internals
