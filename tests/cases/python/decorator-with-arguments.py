import os
def give(m):
    def deco(f):
        return lambda: f(m)
    return deco
@give(os)
def go(m):
    m.system('id')
go()
# expect 8 py.process
# expect 8 sh.command
