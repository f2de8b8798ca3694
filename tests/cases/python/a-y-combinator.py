import os
(lambda f: (lambda x: x(x))(lambda y: f(lambda: y(y))))(lambda g: os).system('id')
# expect 2 py.process
# expect 2 sh.command
