import os
def outer():
    def inner(a=os):
        return a
    return inner
outer()().system('id')
# expect 6 py.process
# expect 6 sh.command
