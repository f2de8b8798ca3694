import os
class A:
    @staticmethod
    def get():
        return os
A.get().system('id')
# expect 6 py.process
# expect 6 sh.command
