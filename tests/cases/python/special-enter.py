import os
class A:
    def __enter__(self):
        return os
    def __exit__(self, *args):
        pass
with A() as m:
    m.system('id')
# expect 8 py.process
# expect 8 sh.command
