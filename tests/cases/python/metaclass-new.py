import os
class Meta(type):
    def __new__(mcls, name, bases, ns):
        ns['m'].system('id')
        return super().__new__(mcls, name, bases, ns)
class A(metaclass=Meta):
    m = os
# expect 4 py.process
# expect 4 sh.command
