import os
def get():
    return os
def call(g):
    return g()
call(get).system('id')
# expect 6 py.process
# expect 6 sh.command
