class A:
    def __init__(self):
        super().__init__()
        self.x = 1
    def __repr__(self): return self.__class__.__name__
