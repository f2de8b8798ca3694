import os
def outer(m):
    def inner():
        return m
    return inner
outer(os)().system('id')
# expect 6 py.process
# expect 6 sh.command
