# SPDX-License-Identifier: MIT
"""Prints a port of this host, and forwards each connection to it to a Unix socket: forward_tcp.py SOCKET."""
import socket
import sys
import threading


def carry(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
while True:
    client, _ = listener.accept()
    engine = socket.socket(socket.AF_UNIX)
    engine.connect(sys.argv[1])
    for pair in ((client, engine), (engine, client)):
        threading.Thread(target=carry, args=pair, daemon=True).start()
