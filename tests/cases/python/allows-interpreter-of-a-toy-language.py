def tokenize(s):
    return s.replace('(', ' ( ').replace(')', ' ) ').split()
def evaluate(x, env):
    if isinstance(x, str):
        return env[x]
    if not isinstance(x, list):
        return x
    f, *args = [evaluate(e, env) for e in x]
    return f(*args)
import operator
env = {'+': operator.add, '*': operator.mul, 'x': 3}
print(evaluate(['+', 1, ['*', 2, 'x']], env), tokenize('(a b)'))
