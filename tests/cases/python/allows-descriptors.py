class Positive:
    def __set_name__(self, owner, name):
        self.name = '_' + name
    def __get__(self, obj, owner=None):
        return self if obj is None else getattr(obj, self.name)
    def __set__(self, obj, value):
        if value < 0:
            raise ValueError(self.name)
        setattr(obj, self.name, value)
class Account:
    balance = Positive()
a = Account()
a.balance = 3
print(a.balance)
