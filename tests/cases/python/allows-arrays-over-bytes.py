import numpy as np

data = bytearray(64)
print(np.ndarray((2,), dtype=np.uint8, buffer=data), np.ndarray((2,), "<f4", data), np.ndarray((8,), buffer=data))
print(np.rec.array([(1, 2.0)], dtype=[("a", int), ("b", float)]), np.recarray((2,), dtype=[("a", int)]))
mapped = np.memmap("a.bin", dtype="float32", mode="w+", shape=(4,))
table = np.memmap("b.bin", dtype=[("a", "f4")], mode="w+", shape=(4,))
values = np.arange(6)
values.resize((2, 3))
print(np.fromstring("1 2", dtype=int, sep=" "), mapped, table)
