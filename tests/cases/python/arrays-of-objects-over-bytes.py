import numpy as np

address = np.array([id(np)], "u8")
np.ndarray((1,), dtype=object, buffer=address)
np.ndarray((1,), "O", address)
np.ndarray((1,), dtype=[("a", "O")], buffer=address)
np.ndarray.__new__(np.ndarray, (1,), object, address)
np.recarray((1,), dtype=[("a", "O")], buf=address)
np.rec.fromstring(address.tobytes(), dtype=[("a", "O")], shape=1)
np.memmap("a", dtype="O")
# expect 4 py.native
# expect 5 py.native
# expect 6 py.native
# expect 7 py.native
# expect 8 py.native
# expect 9 py.native
# expect 10 py.native
