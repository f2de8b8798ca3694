# SPDX-License-Identifier: MIT
# Runs in a user's own image (codebox image build --from) with the PATH of that image. Prints a line
# for each fact: NAME and value. $@: the arguments that the kernel of JavaScript passes to Node.
ls /lib/ld-musl-* >/dev/null 2>&1 && echo 'libc musl' || echo 'libc glibc'
if command -v python3 >/dev/null; then
    echo "python $(command -v python3)"
    python3 -I - <<'PYTHON' || echo 'python-broken yes'
import importlib.util
import os
import sys

print("python-version", ".".join(map(str, sys.version_info[:3])))
print("python-new-enough", "yes" if sys.version_info >= (3, 11) and sys.implementation.name == "cpython" else "no")
print("python-real", os.path.realpath(sys.executable))
print("python-ipython", "yes" if importlib.util.find_spec("IPython") else "no")
PYTHON
fi
if command -v node >/dev/null; then
    echo "node $(command -v node)"
    echo "node-version $(node --version)"
    echo "node-real $(readlink -f "$(command -v node)")"
    if refused=$(node "$@" -e 0 2>&1); then echo 'node-new-enough yes'; else echo "node-refuses $(echo "$refused" | head -n 1)"; fi
fi
exit 0
