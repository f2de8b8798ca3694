# SPDX-License-Identifier: MIT
# Runs in an image of one's own when it is built, with the Python that the image had in its PATH: makes what that Python finds visible to the
# kernel, which starts /usr/bin/python3. Modules lie beneath /usr: no program writes there, and the guard knows them as the image's.
import os
import shutil
import subprocess
import sys
import sysconfig

LIBRARIES = "/usr/lib/codebox/python"  # IPython, for an image without it
ENVIRONMENT = "/usr/lib/codebox/environment"  # the modules of a virtual environment

version = f"{sys.version_info.major}.{sys.version_info.minor}"
base = os.path.realpath(sys.executable)
layer = f"/usr/local/lib/python{version}/dist-packages"  # where docker/packages/layer_images.c puts packages of a session
folders = subprocess.run([base, "-I", "-c", "import site; print('\\n'.join(site.getsitepackages()))"], check=True, capture_output=True, text=True).stdout.splitlines()
site = next(folder for folder in folders if folder != layer)
os.makedirs(site, exist_ok=True)

later = [LIBRARIES] if os.path.isdir(LIBRARIES) else []
if sys.prefix != sys.base_prefix:
    shutil.copytree(sysconfig.get_path("purelib"), ENVIRONMENT, symlinks=True)
    later.insert(0, ENVIRONMENT)

# Packages of a session come before those of the image. A line that begins with "import" is run.
first = f"import sys; sys.path.insert(next((i for i, path in enumerate(sys.path) if path.endswith('-packages')), len(sys.path)), {layer!r}) if {layer!r} not in sys.path else None\n"
with open(os.path.join(site, "codebox.pth"), "w") as out:
    out.write(first + "".join(f"{folder}\n" for folder in later))

if os.path.realpath("/usr/bin/python3") != base:
    if os.path.lexists("/usr/bin/python3"):
        os.remove("/usr/bin/python3")
    os.symlink(base, "/usr/bin/python3")
