# Names that are not known, in a folder above the workspace.
import os
import shutil

for name in os.listdir(".."):
    os.remove("../" + name)
for name in os.listdir("."):
    shutil.rmtree(f"../../{name}/x")
# expect 6 py.open-outside
# expect 8 py.open-outside
