import _socket
# expect 1 py.socket
