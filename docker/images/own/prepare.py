# SPDX-License-Identifier: MIT
# Runs during the build of an image from a user's own image, with the Python in that image's PATH.
# Makes the modules of that Python importable for the kernel, which starts /usr/bin/python3. The
# modules are beneath /usr: no program can write there, and the guard takes these files as the
# image's.
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

# Packages of a session precede packages of the image. Python runs a line of a .pth file that begins
# with "import".
first = f"import sys; sys.path.insert(next((i for i, path in enumerate(sys.path) if path.endswith('-packages')), len(sys.path)), {layer!r}) if {layer!r} not in sys.path else None\n"
with open(os.path.join(site, "codebox.pth"), "w") as out:
    out.write(first + "".join(f"{folder}\n" for folder in later))

if os.path.realpath("/usr/bin/python3") != base:
    if os.path.lexists("/usr/bin/python3"):
        os.remove("/usr/bin/python3")
    os.symlink(base, "/usr/bin/python3")
