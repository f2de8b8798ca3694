#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a command under the filters of a systemd unit, as systemd would: restrict.py UNIT COMMAND ...

Applies the filters that make system calls fail: RestrictAddressFamilies and SystemCallFilter (a list
of refused calls), by seccomp with systemd's errors.
"""

import ctypes
import errno
import os
import re
import socket
import subprocess
import sys

ALLOW, ERRNO, COMPARE_EQUAL = 0x7FFF0000, 0x00050000, 4


class Compare(ctypes.Structure):
    _fields_ = [("argument", ctypes.c_uint), ("op", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]


def settings(unit):
    found = {}
    with open(unit, encoding="utf-8") as lines:
        for name, value in re.findall(r"^(\w+)=(.*)$", lines.read(), re.M):
            found.setdefault(name, []).append(value)
    return found


def calls_of(words):
    for word in words:
        if word.startswith("@"):
            listed = subprocess.run(["systemd-analyze", "syscall-filter", word], capture_output=True, text=True, check=True).stdout
            names = [line.strip() for line in listed.splitlines()[1:]]
            yield from calls_of(name for name in names if name and not name.startswith("#"))
        else:
            yield word


def main():
    unit = settings(sys.argv[1])
    families = {int(getattr(socket, name)) for name in unit["RestrictAddressFamilies"][0].split()}
    refused = unit["SystemCallFilter"][0]
    if not refused.startswith("~"):
        sys.exit("SystemCallFilter is no list of what is refused")
    seccomp = ctypes.CDLL("libseccomp.so.2")
    seccomp.seccomp_init.restype = ctypes.c_void_p
    seccomp.seccomp_init.argtypes = [ctypes.c_uint32]
    seccomp.seccomp_load.argtypes = [ctypes.c_void_p]
    seccomp.seccomp_rule_add_array.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint, ctypes.POINTER(Compare)]
    context = seccomp.seccomp_init(ALLOW)

    def refuse(name, error, compares=()):
        number = seccomp.seccomp_syscall_resolve_name(name.encode())
        array = (Compare * len(compares))(*compares)
        if number >= 0 and seccomp.seccomp_rule_add_array(context, ERRNO | error, number, len(compares), array) != 0:
            sys.exit("no rule for " + name)

    for family in set(range(64)) - families:
        refuse("socket", errno.EAFNOSUPPORT, [Compare(0, COMPARE_EQUAL, family, 0)])
    for name in sorted(set(calls_of(refused[1:].split()))):
        refuse(name, errno.EPERM)
    if seccomp.seccomp_load(context) != 0:
        sys.exit("the filter cannot be loaded")
    os.execvp(sys.argv[2], sys.argv[2:])


main()
