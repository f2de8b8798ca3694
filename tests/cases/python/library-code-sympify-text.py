import sympy
open('f.txt', 'w').write("open('pro' + 'of', 'w').write('sympify')")
print(sympy.sympify(open('f.txt').read()))
# expect 3 py.library-code
