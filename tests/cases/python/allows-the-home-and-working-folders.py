import os, shutil
from pathlib import Path
(Path.home() / "out.txt").write_text("x")
open(os.path.expanduser("~/x.csv"), "w").write("")
open(os.environ["HOME"] + "/x", "w")
shutil.rmtree(os.path.expanduser("~/cache"))
os.chdir("data")
os.remove("../x")
os.chdir("..")
os.remove("x")
os.chdir("/tmp")
os.remove("x")
os.makedirs("../out", exist_ok=True)
