# SPDX-License-Identifier: MIT
# Measures the seconds of ordinary calls and of opening files. Runs in a sandbox, and outside of
# one.
import copy, json, math, os, time

import numpy as np


def calls():
    a = np.arange(1000.0)
    for i in range(20000):
        d = {"a": i, "b": [1, 2, 3], "c": str(i)}
        json.loads(json.dumps(d))
        math.sqrt(i), sorted([3, 1, 2]), f"{i:>10}".strip().upper(), float(a.sum()), time.time(), id(d)
    for i in range(3000):
        copy.deepcopy([[1, 2], {"a": 3}])


def files():
    for i in range(4000):
        with open("x.txt", "w") as f:
            f.write("x")
        with open("x.txt") as f:
            f.read()
        os.path.exists("y")


def best(work):
    times = []
    for _ in range(5):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


print(best(calls), best(files))
