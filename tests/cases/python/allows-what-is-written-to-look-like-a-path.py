from pathlib import Path
import numpy as np, os, pandas as pd
Path('a.css').write_text('/* main */ body {}')
page = Path('routes.txt')
page.write_text('/users/1\n/users/2\n', encoding='utf-8')
page.write_bytes(data=b'/x')
for name in ['a', 'b']:
    (Path('.') / name).write_text(f'/{name}/index')
pd.DataFrame({'a': [1]}).to_csv('a.csv', sep='/', date_format='/%d')
np.savetxt('a.txt', np.zeros(3), comments='// ', header='/x', delimiter='/')
os.write(1, b'/etc\n')
open('style.css', 'w').write('/* x */')
