import os
R = {}
def register(name):
    def deco(f):
        R[name] = f
        return f
    return deco
@register('go')
def go(m):
    m.system('id')
R['go'](os)
# expect 10 py.process
# expect 10 sh.command
