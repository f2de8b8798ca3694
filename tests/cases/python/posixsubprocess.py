import _posixsubprocess
# expect 1 py.process
