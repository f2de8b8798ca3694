registry = {}
def register(name):
    def deco(f):
        registry[name] = f
        return f
    return deco
@register('hello')
def hello(who):
    return 'hello ' + who
print(registry['hello']('you'))
