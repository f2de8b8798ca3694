import typing
import os
def f(x: "os.system('id')"):
    pass
typing.get_type_hints(f)
# expect 3 py.process
# expect 3 sh.command
