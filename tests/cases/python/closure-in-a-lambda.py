import os
make = lambda m: lambda: m.system('id')
make(os)()
# expect 2 py.process
# expect 2 sh.command
