import patsy
import statsmodels.formula.api as smf
from patsy import dmatrix
patsy.dmatrices('y ~ I(__import__("os").system("x"))', df)
smf.ols('y ~ I(eval(z))', data=df).fit()
smf.logit(formula='y ~ I(open("/etc/x", "w"))', data=df)
dmatrix('I(().__class__.__base__)', df)
smf.ols('np.log(y) ~ C(group) + poly(a__b, 2) + I(x**2)', data=df)
patsy.dmatrix('bs(x, df=4) + evaluation', df)
# expect 4 py.dynamic-code
# expect 4 py.process
# expect 4 sh.command
# expect 5 py.dynamic-code
# expect 6 py.open-outside
# expect 7 py.internals
