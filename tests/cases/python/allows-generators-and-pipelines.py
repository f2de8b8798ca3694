def numbers(n):
    for i in range(n):
        yield i
def squares(it):
    yield from (x * x for x in it)
print(sum(squares(numbers(5))), next(squares([3]), None))
