import os
def outer():
    m = os
    def inner():
        return m
    return inner
outer().__closure__[0].cell_contents.system('id')
# expect 7 py.process
# expect 7 sh.command
# expect 7 py.internals
