# SPDX-License-Identifier: MIT
"""What Python loads as code from files: those of the image, and source whose SHA-256 the host accepted. All other files are data.

The functions of the standard loaders are replaced, so that every finder, every entry of sys.path and every direct use of a loader
gets here. The bytes that were hashed are the bytes that are compiled. The set of hashes is in a closure.
"""
import builtins

__builtins__ = dict(vars(builtins))  # for the functions below: a program may replace a builtin

import _frozen_importlib
import _frozen_importlib_external
import _imp
import _io
import _sha256
import marshal
import os
import site
import sys
import zipimport
from _weakref import ref

# The folder of the image: no program can write it, and no link in it leads to a place that one can. The kernel's own folder is none:
# a program that loaded this file again would get a set of its own.
IMAGE = "/usr/"
WORKSPACE = "/workspace/"
FILE_MAX = 16 << 20  # a larger file is no source: a run has at most this

hash_of, load_code, fix_file_name = _sha256.sha256, marshal.loads, _imp._fix_co_filename
open_fd, close_fd, read_fd, fstat, stat, fspath = os.open, os.close, os.read, os.fstat, os.stat, os.fspath
FileIO, BytesIO, open_image_code = _io.FileIO, _io.BytesIO, _io.open_code
create_dynamic, create_builtin, get_frozen = _imp.create_dynamic, _imp.create_builtin, _imp.get_frozen_object
ModuleSpec, call = _frozen_importlib.ModuleSpec, _frozen_importlib._call_with_frames_removed
MAGIC = _frozen_importlib_external.MAGIC_NUMBER
SUFFIX = f".{sys.implementation.cache_tag}.pyc"


OWN = []  # code of this file
ROOTS = tuple(sorted((f"{path}/" for path in sys.path if path.startswith(IMAGE)), key=len, reverse=True))  # folders of modules


def in_importlib(function):
    """Python leaves the frames of importlib out of tracebacks, and so these."""
    function.__code__ = function.__code__.replace(co_filename="<frozen importlib._bootstrap_external>")
    OWN.append(function.__code__)
    return function


def is_of_image(path):
    return path.startswith(IMAGE) and "/.." not in path


def name_of_file(path):
    """The module that a file of the image is, whatever it is loaded as."""
    for root in ROOTS:
        if path.startswith(root):
            folder, _, file = path[len(root) :].rpartition("/")
            name = file.partition(".")[0]
            return (folder if name == "__init__" else f"{folder}/{name}".lstrip("/")).replace("/", ".")
    return ""


@in_importlib
def path_of(path):
    path = fspath(path)
    return str.__str__(path) if isinstance(path, str) else bytes.decode(path, "utf-8", "surrogateescape")


@in_importlib
def refusal(path, why, name=None):
    shown = path.removeprefix(WORKSPACE)
    return ImportError(f"{shown} {why}", name=name, path=path)


@in_importlib
def read(path, name=None):
    """The bytes of a regular file. Waits for nothing, as a pipe would make it."""
    fd = open_fd(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        status = fstat(fd)
        if status.st_mode & 0o170000 != 0o100000 or status.st_size > FILE_MAX:
            raise refusal(path, "is no file of source, so it is not loaded as code", name)
        parts, left = [], FILE_MAX + 1
        while left > 0 and (part := read_fd(fd, left)):
            parts.append(part)
            left -= len(part)
        return b"".join(parts)
    finally:
        close_fd(fd)


@in_importlib
def compile_source(data, path):
    return call(compile, data, path, "exec", dont_inherit=True, optimize=-1)


@in_importlib
def code_of_image(path):
    """The compiled file beside the source, when it is of this source. Its name depends on nothing that a program can change."""
    folder, _, file = path.rpartition("/")
    try:
        data = read(f"{folder}/__pycache__/{file.rpartition('.')[0]}{SUFFIX}")
    except OSError:
        return compile_source(read(path), path)
    if data[:8] == MAGIC + bytes(4):
        status = stat(path)
        stamp = (int(status.st_mtime) & 0xFFFFFFFF).to_bytes(4, "little") + (status.st_size & 0xFFFFFFFF).to_bytes(4, "little")
        if data[8:16] == stamp:
            code = load_code(memoryview(data)[16:])
            fix_file_name(code, path)
            return code
    return compile_source(read(path), path)


def install(answers, check):
    """Replaces the loaders' functions. `answers`: attributes of modules of the image, set once a module is imported. `check` raises
    ImportError for a module of the image that whoever imports it may not. Returns a function that takes accepted hashes, 32 bytes
    each; the code of accepted files that was loaded, as keys; and whether a code object is one of an image's file that was loaded."""
    accepted, judged, of_image = set(), {}, {}

    @in_importlib
    def source_of(path, name=None):
        data = read(path, name)
        if data and hash_of(data).digest() not in accepted:  # an empty file, as many __init__.py are, has no code
            raise refusal(path, "was not judged, so it is not loaded as code: upload it, or write it in a cell with %%writefile", name)
        return data

    @in_importlib
    def get_code(self, fullname):
        path = path_of(self.get_filename(fullname))
        if is_of_image(path):
            check(name_of_file(path))
            code = code_of_image(path)
            of_image[id(code)] = ref(code, lambda _, key=id(code): of_image.pop(key, None))
            return code
        code = compile_source(source_of(path, fullname), path)
        judged[code] = None
        return code

    @in_importlib
    def exec_module(self, module):
        call(exec, self.get_code(module.__name__), module.__dict__)
        if module.__name__ in answers and is_of_image(self.path):
            module.__dict__.update(answers[module.__name__])

    @in_importlib
    def get_compiled(self, fullname):
        raise refusal(path_of(self.path), "is compiled code, which is not loaded: use its source", fullname)

    # Files beside the modules of a package, which are data.
    @in_importlib
    def get_data(self, path):
        with FileIO(path, "r") as file:
            return file.read()

    @in_importlib
    def load_native(spec, file=None):
        path = path_of(spec.origin)
        if not is_of_image(path):
            raise refusal(path, "is native code, which is loaded from the image alone", spec.name)
        check(name_of_file(path))
        own = ModuleSpec(spec.name, spec.loader, origin=path)
        own.submodule_search_locations = spec.submodule_search_locations
        return create_dynamic(own)

    # For whoever opens a file to run it, as runpy.
    @in_importlib
    def open_code(path):
        path = path_of(path)
        return open_image_code(path) if is_of_image(path) else BytesIO(source_of(path))

    @in_importlib
    def load_built_in(spec):
        own = ModuleSpec(str.__str__(spec.name), spec.loader, origin=spec.origin)
        check(own.name)
        return create_builtin(own)

    @in_importlib
    def code_of_frozen(name, *rest):
        check(name := str.__str__(name))
        return get_frozen(name, *rest)

    @in_importlib
    def no_archive(self, path, *rest):
        raise zipimport.ZipImportError(f"{path!r} is not loaded as code: archives are data")

    external = _frozen_importlib_external
    external.SourceLoader.get_code = get_code
    external.SourceLoader.exec_module = exec_module
    external.SourcelessFileLoader.get_code = get_compiled
    external.FileLoader.get_data = get_data
    _imp.create_dynamic, _imp.create_builtin, _imp.get_frozen_object = load_native, load_built_in, code_of_frozen
    _io.open_code = sys.modules["io"].open_code = open_code
    for name in ("__init__", "get_code", "load_module", "exec_module"):
        setattr(zipimport.zipimporter, name, no_archive)
    sys.path_hooks[:] = [hook for hook in sys.path_hooks if hook is not zipimport.zipimporter]
    site.addpackage = lambda folder, name, known: known  # .pth files have lines of code

    def accept(hashes):
        accepted.update(hashes[at : at + 32] for at in range(0, len(hashes), 32))

    def was_loaded(code):
        known = of_image.get(id(code))
        return known is not None and known() is code

    return accept, judged, was_loaded
