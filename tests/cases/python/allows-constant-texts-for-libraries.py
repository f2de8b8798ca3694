import sympy as sp, statsmodels.formula.api as smf, statsmodels.api as sm, pandas as pd, numpy as np, typing
from sympy import *
from typing import Literal, Annotated, Optional
from sqlalchemy.orm import relationship, backref
x, y = symbols('x y')
e = sympify('x**2 + 3*x*y')
f = sp.lambdify((x, y), e, 'numpy')
g = lambdify([x], diff(e, x))
sympify(e).subs(x, 1)
S(1)/3; S('1/3'); S.One; S(e)
h = sympify(diff(e, x) + 1)
for n in range(4):
    print(sympify(f"x**{n}"))
for op in ['sin', 'cos']:
    print(parse_expr(op + '(x)'), parse_expr(f'{op}(x)'))
print(solve(Eq(x**2, 4), x), solve('x**2 - 4', 'x'), integrate('sin(x)', ('x', 0, 'pi')))
Matrix([[1, 2], [x, y]])
simplify(some(x)); expand((x+1)**2); N(pi, 30)
parse_expr("2x + 3y", transformations=T)
outcome = 'y'
for p in ['a', 'b']:
    m = smf.ols(f'{outcome} ~ {p} + C(g)', data=d).fit()
cols = ['a', 'b', 'c']
smf.ols(formula=f"y ~ {' + '.join(cols)}", data=d)
smf.ols('y ~ ' + '+'.join([c for c in cols if c != 'a']), data=d)
formula = 'np.log(y) ~ a*b + a:b + I(a**2) + Q("my col") - 1'
smf.logit(formula, data=d).fit()
def fit(formula, data):
    return smf.ols(formula, data=data).fit()
fit('y ~ x', d); fit('y ~ x + z', d)
smf.mixedlm("y ~ x", d, groups=d["g"], re_formula="~x")
sm.stats.anova_lm(m, typ=2)
class P:
    cs: "list[C]" = relationship("C", primaryjoin="P.id == foreign(C.p_id)", order_by="desc(C.name)", secondary="assoc", back_populates="p")
    o = relationship(lambda: C, primaryjoin=lambda: A.id == B.x, foreign_keys=[x], remote_side=[id])
    q = relationship("C", foreign_keys="[C.a, C.b]", remote_side="P.id")
mode: Literal["eval(x)", "exec(1)"] = "a"
z: Annotated[int, "open(…)"]
k: Optional["P"] = None
df = pd.DataFrame(d)
df.query("a > 1 and name.str.contains('x')"); df.query(f"a > {lim}"); df.eval("c = a + b"); df.query('`a b` > @lim and @np.abs(a) > 2')
pd.eval("df.a + df.b")
def area(expr_text): return parse_expr(expr_text)
area("pi*r**2")
