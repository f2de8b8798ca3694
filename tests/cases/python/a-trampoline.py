import os
def go(f):
    while callable(f):
        f = f()
    return f
go(lambda: lambda: os).system('id')
# expect 6 py.process
# expect 6 sh.command
