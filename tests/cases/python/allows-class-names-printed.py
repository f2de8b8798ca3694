class A:
    pass
class B(A):
    pass
print(B.__mro__, B.__bases__, B.__name__, B.__qualname__, B.__module__, B.__doc__)
