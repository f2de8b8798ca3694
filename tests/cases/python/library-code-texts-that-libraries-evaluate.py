import sympy as sp, sympy, statsmodels.formula.api as smf, statsmodels.api as sm, pandas as pd, json, sys
from sympy import *
from sqlalchemy.orm import relationship, backref
import numexpr as ne, patsy, typing, pydantic
from pydantic import create_model, BaseModel
t = open('f').read()
sympify(t)
S(t)
sp.N(t)
simplify(t)
solve([t], x)
Matrix([[t, 1]])
parse_expr(sys.argv[1])
e = x**2
e.subs('x', t)
sp.Symbol('x').subs('x', t)
lambdify('x', t)
lambdify(t, e)
for line in open('g'):
    sp.simplify(line.strip())
cfg = json.load(open('c'))
sp.simplify(cfg['e'])
sp.expand(f"x**2 + {t}")
list(map(sympify, [t]))
sympify("__import__('os').system('id')")
sympify("S('open(1)')")
S('exec("1")')
smf.glm(formula=t, data=d)
sm.OLS.from_formula(t, d)
sm.MixedLM.from_formula('y ~ x', d, re_formula=t)
smf.ols("y ~ I(__import__('os').system('id')) + x", d)
patsy.dmatrices("y ~ x:I(eval('1'))", d)
relationship('C', primaryjoin=t)
relationship('C', primaryjoin="[__import__('os').system('id')][0]")
relationship('C', backref=backref('p', order_by="exec('x')"))
relationship("__import__('os').system('id')")
pd.eval("@pd.io.common.os.system('id')")
df = pd.DataFrame(d)
df.query("a > @os_system('id')")
df.eval(t)
ne.evaluate("__import__('os').system('id')")
class M(BaseModel):
    a: "__import__('os').system('id')"
    b: t
    c: typing.Optional["exec('1')"]
    d: list["exec('1')"]
create_model('N', x=("exec('1')", ...))
create_model('N', x=(t, ...))
typing.ForwardRef(t)
typing.List["exec('1')"]
typing.NamedTuple('N', [('x', "exec('1')")])
# expect 7 py.library-code
# expect 8 py.library-code
# expect 9 py.library-code
# expect 10 py.library-code
# expect 11 py.library-code
# expect 12 py.library-code
# expect 13 py.library-code
# expect 16 py.library-code
# expect 17 py.library-code
# expect 18 py.library-code
# expect 20 py.library-code
# expect 22 py.library-code
# expect 23 py.library-code
# expect 24 py.library-code
# expect 25 py.dynamic-code
# expect 25 py.process
# expect 25 sh.command
# expect 27 py.dynamic-code
# expect 28 py.library-code
# expect 29 py.library-code
# expect 30 py.library-code
# expect 31 py.dynamic-code
# expect 31 py.process
# expect 31 sh.command
# expect 32 py.dynamic-code
# expect 33 py.library-code
# expect 34 py.dynamic-code
# expect 34 py.process
# expect 34 sh.command
# expect 35 py.dynamic-code
# expect 36 py.dynamic-code
# expect 36 py.process
# expect 36 sh.command
# expect 37 py.process
# expect 37 sh.command
# expect 40 py.library-code
# expect 41 py.dynamic-code
# expect 41 py.process
# expect 41 sh.command
# expect 43 py.dynamic-code
# expect 43 py.process
# expect 43 sh.command
# expect 44 py.library-code
# expect 45 py.dynamic-code
# expect 46 py.dynamic-code
# expect 47 py.dynamic-code
# expect 48 py.library-code
# expect 49 py.library-code
# expect 50 py.dynamic-code
# expect 51 py.dynamic-code
