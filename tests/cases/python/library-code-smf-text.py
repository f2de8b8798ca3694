import pandas as pd
import statsmodels.formula.api as smf
open('f.txt', 'w').write("y ~ I(open('pro' + 'of', 'w').write('formula') + x)")
d = pd.DataFrame({'x': [1., 2, 3, 4], 'y': [2., 4, 6, 9]})
print(smf.ols(open('f.txt').read(), d).fit().params)
# expect 5 py.library-code
