import os, shutil
from pathlib import Path
root = Path.cwd()
out = root.parent / 'data'
(root / 'build').mkdir(exist_ok=True)
(out / 'table.csv').write_text('a')
shutil.rmtree(root / 'build')
shutil.rmtree(os.path.join(os.getcwd(), 'tmp'))
(Path('a').parent.parent / 'x').unlink()
open(Path.home() / 'x', 'w').close()
open(os.path.join(os.path.dirname(os.path.abspath('x')), 'y'), 'w').close()
os.remove(os.path.join(os.path.expanduser('~'), 'x'))
print(str(Path.cwd()), Path.cwd().parents[0], os.path.normpath('a/../b'))
