try:
    import nothing_like_this as m
except ImportError:
    import os as m
m.system('id')
# expect 5 py.process
# expect 5 sh.command
