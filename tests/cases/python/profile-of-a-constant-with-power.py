import cProfile as c
c.Profile().run('import os\nos.system("id")')
# expect 2 py.process
# expect 2 sh.command
