# Names of symbols as they are usual, in TeX too.
import sympy

name = input()
x, y = sympy.symbols("x y", positive=True)
many = sympy.symbols("a:3 b(1:3)")
print(sympy.Symbol("x_{max}"), sympy.Symbol("\\alpha"), sympy.Symbol("f'(x)"), sympy.Symbol(name))
print(sympy.Function("f")(x), sympy.Symbol("v_{x}(t)"), sympy.Dummy("k"), sympy.IndexedBase("A")[0], many)
print(sympy.MatrixSymbol("M", 2, 2), sympy.Wild("w", exclude=[x]), sympy.symbols(" ".join([name, "z"])))
