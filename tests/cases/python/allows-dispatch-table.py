def add(a, b):
    return a + b
def sub(a, b):
    return a - b
table = {'+': add, '-': sub, '*': lambda a, b: a * b}
for op in table:
    print(op, table[op](3, 2))
print(table.get('+', sub)(1, 2))
