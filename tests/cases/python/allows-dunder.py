class V:
    def __eq__(self,o): return self.__dict__ == o.__dict__
    def __hash__(self): return hash(id(self))
