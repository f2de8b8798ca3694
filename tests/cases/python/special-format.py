import os
class A:
    def __format__(self, spec):
        os.__dict__[spec]('id')
        return ''
f'{A():system}'
# expect 4 py.internals
