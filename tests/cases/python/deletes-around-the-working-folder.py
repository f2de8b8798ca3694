import os, shutil
from pathlib import Path
shutil.rmtree(Path.cwd().parent)
shutil.rmtree(Path.cwd().parents[1] / 'x')
shutil.rmtree(os.path.dirname(os.getcwd()))
shutil.rmtree(os.path.join(os.getcwd(), '..', 'x'))
shutil.rmtree(f'{os.getcwd()}/../x')
(Path('.').resolve().parent / 'x').unlink()
shutil.rmtree(Path('..').absolute())
Path.home().parent.joinpath('x').unlink()
os.remove(os.path.join(os.path.expanduser('~'), '../x'))
# expect 3 py.open-outside
# expect 4 py.open-outside
# expect 5 py.open-outside
# expect 6 py.open-outside
# expect 7 py.open-outside
# expect 8 py.open-outside
# expect 9 py.open-outside
# expect 10 py.open-outside
# expect 11 py.open-outside
