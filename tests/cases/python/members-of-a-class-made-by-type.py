# type() gives a class its members too.
V = type("V", (), {"__array_" + "interface__": {"data": (4194304, False)}})
# expect 2 py.native
