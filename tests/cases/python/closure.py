import os
def outer():
    m = os
    def inner():
        m.system('id')
    return inner
outer()()
# expect 5 py.process
# expect 5 sh.command
