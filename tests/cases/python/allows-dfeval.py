import pandas as pd
df = pd.DataFrame({'a':[1]})
df.eval('a+1')
df.query('a > 1')
