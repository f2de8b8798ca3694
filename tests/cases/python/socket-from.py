from socket import socket
# expect 1 py.socket
