import os
def give(f):
    def inner():
        return f()
    return inner
@give
def m():
    return os
m().system('id')
# expect 9 py.process
# expect 9 sh.command
