#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints 1 if the memory of a process has the private key of a PEM file, as PEM or as its bytes; else
0.

in_memory.py PID KEY.pem
"""

import base64
import re
import sys


def needles(path):
    lines = [line for line in open(path, "rb").read().splitlines() if line and not line.startswith(b"-")]
    der = base64.b64decode(b"".join(lines))
    return [max(lines, key=len)[8:56], der[len(der) // 4 : len(der) // 4 + 24]]


def regions(pid):
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in maps:
            found = re.match(r"([0-9a-f]+)-([0-9a-f]+) rw", line)
            if found:
                start, end = (int(text, 16) for text in found.groups())
                try:
                    memory.seek(start)
                    yield memory.read(end - start)
                except (OSError, ValueError, OverflowError):
                    continue


def main():
    wanted = needles(sys.argv[2])
    print(int(any(needle in region for region in regions(sys.argv[1]) for needle in wanted)))


main()
