class Meta(type):
    classes = {}
    def __new__(mcls, name, bases, ns, **kw):
        cls = super().__new__(mcls, name, bases, ns)
        mcls.classes[name] = cls
        return cls
    def __call__(cls, *args, **kwargs):
        return super().__call__(*args, **kwargs)
class A(metaclass=Meta):
    pass
print(Meta.classes, A())
