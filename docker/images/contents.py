# SPDX-License-Identifier: MIT
# Runs in an image of Python when it is built, and prints what the label codebox.contents has: Python, and the distributions that it finds
# with the modules that each provides. Names are those of the distributions' own metadata.
import importlib.metadata
import importlib.util
import json
import os
import platform
import re
import shutil
import subprocess


def package_of(path):
    """Debian's package that owns the metadata at this path; None when there is none, and in an image of another distribution."""
    if shutil.which('dpkg-query') is None:
        return None
    answer = subprocess.run(['dpkg-query', '-S', path], capture_output=True, text=True)
    return answer.stdout.split(':')[0] if answer.returncode == 0 else None


def files_of(package):
    return subprocess.run(['dpkg-query', '-L', package], capture_output=True, text=True).stdout.splitlines()


def version_of(distribution, package):
    """Some packages of Debian have lost the version in their metadata; then it is the version of the package."""
    if distribution.version != '0.0.0' or package is None:
        return distribution.version
    version = subprocess.run(['dpkg-query', '-W', '-f', '${Version}', package], capture_output=True, text=True).stdout
    return re.match(r'(?:\d+:)?([0-9.]*[0-9])', version).group(1)


def modules_of(distribution, package):
    """The modules that programs import: those of top_level.txt, else the importable ones among the package's files."""
    text = distribution.read_text('top_level.txt')
    names = set(text.split()) if text else set()
    if not names and package is not None:
        names = {name.removesuffix('.py')
                 for folder, name in (os.path.split(path) for path in files_of(package) if os.path.exists(path))
                 if folder.endswith('/dist-packages') and (name.endswith('.py') or os.path.exists(f'{folder}/{name}/__init__.py'))}
    return sorted(name for name in names if name.isidentifier() and not name.startswith('_') and importlib.util.find_spec(name))


packages = {}
for distribution in importlib.metadata.distributions():
    name = distribution.metadata['Name']
    if name.lower() in packages:  # the first one is that which programs import
        continue
    package = package_of(str(distribution._path))
    packages[name.lower()] = {'name': name, 'version': version_of(distribution, package), 'modules': modules_of(distribution, package)}
print(json.dumps({'version': 1, 'runtime': {'name': 'Python', 'version': platform.python_version()},
                  'packages': [packages[name] for name in sorted(packages)]}, separators=(',', ':')))
