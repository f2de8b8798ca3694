# lambdify writes the names of symbols into the code that it compiles.
import sympy

x = sympy.Symbol("x")
print(sympy.lambdify(x, sympy.Symbol("__import__('os').getpid()"))(1))
print(sympy.lambdify(x, sympy.Function("open('a', 'w').write")(x))(1))
print(sympy.symbols("a b open('c')"))
# expect 5 py.dynamic-code
# expect 7 py.library-code
