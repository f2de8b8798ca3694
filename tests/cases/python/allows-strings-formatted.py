name, n = 'x', 3
print('%s is %d' % (name, n), '{} {}'.format(name, n), f'{name!r:>10} {n:05.2f} {n:{n}}', '{:,}'.format(1000), '{0[a]} {1.real}'.format({'a': 1}, 2))
print('{name}'.format(name=name), '{:>{w}}'.format('a', w=5), '{a[b]}'.format(a={'b': 1}), '%(a)s' % {'a': 1})
