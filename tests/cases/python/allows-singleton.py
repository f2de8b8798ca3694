class Singleton:
    _it = None
    def __new__(cls, *args, **kwargs):
        if cls._it is None:
            cls._it = super().__new__(cls)
        return cls._it
print(Singleton() is Singleton())
