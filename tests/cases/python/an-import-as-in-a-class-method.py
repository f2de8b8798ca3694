class A:
    @staticmethod
    def get():
        import os as m
        return m
A.get().system('id')
# expect 6 py.process
# expect 6 sh.command
