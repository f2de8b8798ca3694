# SPDX-License-Identifier: MIT
"""Checks that the kernel and codebox-lint (argument 1) find the same requirements in lines of `pip
install`."""
import ast
import re
import subprocess
import sys
import tempfile

LINES = {
    "goodpkg<2": ["goodpkg<2"],
    "goodpkg<2 six": ["goodpkg<2", "six"],
    "good>=1,<2 six": ["good>=1,<2", "six"],
    "'goodpkg<2' \"six>1\"": ["goodpkg<2", "six>1"],
    "a!=2,<3 b~=1.0": ["a!=2,<3", "b~=1.0"],
    "-q x[a,b]>=1": ["x[a,b]>=1"],
    "six > /dev/null 2>&1 numpy": ["six", "numpy"],
    "six >/dev/null": ["six"],
    "six>out.txt": ["six"],
    "six &> log": ["six"],
    "-q six 2>&1 | tail -1": ["six"],
}

with open("docker/inside/kernels/python_kernel.py", encoding="utf-8") as file:
    tree = ast.parse(file.read())
wanted = ("without_redirections", "pip_arguments")
kernel = {"re": re}
exec(compile(ast.Module([each for each in tree.body if getattr(each, "name", "") in wanted], []), "kernel", "exec"), kernel)

failed = False
for line, expected in LINES.items():
    for start in ("%pip install", "!pip install", "!python -m pip install"):
        with tempfile.NamedTemporaryFile("w", suffix=".py") as cell:
            cell.write(f"{start} {line}\n")
            cell.flush()
            facts = subprocess.run([sys.argv[1], "--language", "ipython", "--dump=facts", cell.name], capture_output=True, text=True, check=False).stdout
        judged = re.findall(r"package-requested (\S+)", facts)
        shown = [word for word in kernel["pip_arguments"](start.lstrip("!%") + " " + line) if not word.startswith("-")]
        if not judged == shown == expected:
            print(f"{start} {line}: the analyzer reads {judged}, the kernel {shown}, expected {expected}")
            failed = True
sys.exit(failed)
