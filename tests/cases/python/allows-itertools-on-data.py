import itertools
print(list(itertools.chain([1], [2])), list(itertools.product('ab', [1])), list(itertools.accumulate([1, 2], operator_add := lambda a, b: a + b)))
for k, g in itertools.groupby('aab'):
    print(k, list(g))
