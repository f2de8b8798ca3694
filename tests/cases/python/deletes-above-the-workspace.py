import contextlib, os, shutil
from pathlib import Path
shutil.rmtree("..")
os.remove("../../etc/x")
(Path("..") / "x").unlink()
os.remove(os.path.join("..", "x"))
shutil.move("../x", "y")
def clean():
    os.remove("x")
os.chdir("..")
clean()
os.remove("x")
os.system("cd .. && rm -rf x")
# expect 3 py.open-outside
# expect 4 py.open-outside
# expect 5 py.open-outside
# expect 6 py.open-outside
# expect 7 py.open-outside
# expect 9 py.open-outside
# expect 12 py.open-outside
# expect 13 py.process
# expect 13 sh.open-outside
