import pandas as pd
df = pd.DataFrame({'a': [1, 2], 'b': [3, 4]})
print(df.eval('a + b'), df.query('a > 1'), df.query("a == 'x' and b < 2"))
