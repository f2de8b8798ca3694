import os
def outer():
    m = None
    def inner():
        nonlocal m
        m = os
    inner()
    m.system('id')
outer()
# expect 8 py.process
# expect 8 sh.command
