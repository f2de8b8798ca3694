import operator
class P:
    def __init__(self, x):
        self.x = x
print(sorted([P(2), P(1)], key=operator.attrgetter('x'))[0].x, list(map(operator.methodcaller('upper'), 'ab')))
