# SPDX-License-Identifier: MIT
"""Limits the files that Python loads as code to files of the image, and source whose SHA-256 the host
accepted. All other files are data.

This module replaces the functions of the standard loaders, so that every finder, every entry of
sys.path and every direct use of a loader calls the guard (docker/inside/python_guard/python_load.c),
which reads, checks and compiles the source.
"""
import builtins

__builtins__ = dict(vars(builtins))  # for the functions below: a program may replace a builtin

import _frozen_importlib
import _frozen_importlib_external
import _imp
import _io
import os
import site
import sys
import zipimport

IMAGE = "/usr/"
BytesIO, open_image_code, realpath, fspath = _io.BytesIO, _io.open_code, os.path.realpath, os.fspath
FileIO, call = _io.FileIO, _frozen_importlib._call_with_frames_removed


def in_importlib(function):
    """Gives the function importlib's file name: Python removes importlib's frames from tracebacks."""
    function.__code__ = function.__code__.replace(co_filename="<frozen importlib._bootstrap_external>")
    return function


def install(answers, guard):
    """Replaces the loaders' functions. `answers` maps modules of the image to attributes, which are
    set after the module's import."""
    load, read_source = guard.load, guard.read_source

    @in_importlib
    def get_code(self, fullname):
        return load(self.get_filename(fullname), fullname)

    @in_importlib
    def exec_module(self, module):
        call(exec, self.get_code(module.__name__), module.__dict__)
        if module.__name__ in answers and self.path.startswith(IMAGE):
            module.__dict__.update(answers[module.__name__])

    @in_importlib
    def get_compiled(self, fullname):
        raise ImportError(f"{self.path} is compiled code, which is not loaded: use its source", name=fullname, path=self.path)

    # Reads the data files of a package.
    @in_importlib
    def get_data(self, path):
        with FileIO(path, "r") as file:
            return file.read()

    # Opens a file for callers that run it, such as runpy.
    @in_importlib
    def open_code(path):
        return open_image_code(path) if realpath(fspath(path)).startswith(IMAGE) else BytesIO(read_source(path))

    @in_importlib
    def no_archive(self, path, *rest):
        raise zipimport.ZipImportError(f"{path!r} is not loaded as code: archives are data")

    external = _frozen_importlib_external
    external.SourceLoader.get_code = get_code
    external.SourceLoader.exec_module = exec_module
    external.SourcelessFileLoader.get_code = get_compiled
    external.FileLoader.get_data = get_data
    _imp.create_dynamic, _imp.create_builtin, _imp.get_frozen_object = guard.create_dynamic, guard.create_builtin, guard.get_frozen_object
    _io.open_code = sys.modules["io"].open_code = open_code
    for name in ("__init__", "get_code", "load_module", "exec_module"):
        setattr(zipimport.zipimporter, name, no_archive)
    sys.path_hooks[:] = [hook for hook in sys.path_hooks if hook is not zipimport.zipimporter]
    site.addpackage = lambda folder, name, known: known  # .pth files contain lines of code
