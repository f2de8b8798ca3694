from pathlib import Path
import numpy as np, os, pandas as pd
Path('/etc/a.css').write_text('x')
Path('/usr/lib/x').write_bytes(b'x')
pd.DataFrame({'a': [1]}).to_csv('/etc/a.csv', sep=',')
np.savetxt('/etc/a.txt', np.zeros(3))
os.makedirs('/usr/lib/x', 0o777)
pd.DataFrame({'a': [1]}).to_csv(path_or_buf='/etc/a.csv')
# expect 3 py.open-outside
# expect 4 py.open-outside
# expect 5 py.open-outside
# expect 6 py.open-outside
# expect 7 py.open-outside
# expect 8 py.open-outside
