# SPDX-License-Identifier: MIT
# Runs during the build of an image with Python. Prints the label codebox.contents: Python, and its
# distributions with their modules. Names come from the metadata of the distributions.
import importlib.metadata
import importlib.util
import json
import os
import platform
import re
import shutil
import subprocess


def package_of(path):
    """Returns Debian's package that owns the metadata at this path; None if no package owns it, or the
    image has no dpkg."""
    if shutil.which('dpkg-query') is None:
        return None
    answer = subprocess.run(['dpkg-query', '-S', path], capture_output=True, text=True)
    return answer.stdout.split(':')[0] if answer.returncode == 0 else None


def files_of(package):
    return subprocess.run(['dpkg-query', '-L', package], capture_output=True, text=True).stdout.splitlines()


def version_of(distribution, package):
    """Returns the version of a distribution. Some of Debian's packages have no version in their
    metadata; their distribution has the version of the package."""
    if distribution.version != '0.0.0' or package is None:
        return distribution.version
    version = subprocess.run(['dpkg-query', '-W', '-f', '${Version}', package], capture_output=True, text=True).stdout
    return re.match(r'(?:\d+:)?([0-9.]*[0-9])', version).group(1)


def modules_of(distribution, package):
    """Returns the modules that programs import: those of top_level.txt, else the importable files of the
    package."""
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
    if name.lower() in packages:  # programs import the first distribution of a name
        continue
    package = package_of(str(distribution._path))
    packages[name.lower()] = {'name': name, 'version': version_of(distribution, package), 'modules': modules_of(distribution, package)}
print(json.dumps({'version': 1, 'runtime': {'name': 'Python', 'version': platform.python_version()},
                  'packages': [packages[name] for name in sorted(packages)]}, separators=(',', ':')))
