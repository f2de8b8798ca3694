from functools import reduce
import operator
def compose(*fs):
    return reduce(lambda f, g: lambda x: f(g(x)), fs)
print(compose(lambda x: x + 1, lambda x: x * 2)(3), reduce(operator.mul, [1, 2, 3], 1), sorted('ba', key=ord))
print(list(map(str, [1])), list(filter(None, [0, 1])), sorted([{'a': 1}], key=operator.itemgetter('a')))
