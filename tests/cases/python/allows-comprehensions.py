m = [[1, 2], [3, 4]]
print([x for r in m for x in r if x % 2], {x: x ** 2 for x in range(3)}, {c for c in 'aab'}, sum(x for x in range(3)))
print([[row[i] for row in m] for i in range(2)], [y := 1, y + 1])
