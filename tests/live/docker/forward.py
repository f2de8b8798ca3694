# SPDX-License-Identifier: MIT
"""Forwards connections from one Unix socket to another. After SIGUSR1 it accepts connections and
bytes, and forwards none."""
import os
import signal
import socket
import sys
import threading

listening, target = sys.argv[1:]
silent = threading.Event()
signal.signal(signal.SIGUSR1, lambda *_: silent.set())


def carry(source, sink):
    while data := source.recv(65536):
        if not silent.is_set():
            sink.sendall(data)
    if not silent.is_set():
        sink.shutdown(socket.SHUT_WR)


def attempt(source, sink):
    try:
        carry(source, sink)
    except OSError:
        pass


def serve(client):
    engine = socket.socket(socket.AF_UNIX)
    engine.connect(target)
    for pair in ((client, engine), (engine, client)):
        threading.Thread(target=attempt, args=pair, daemon=True).start()


with socket.socket(socket.AF_UNIX) as server:
    server.bind(listening)
    server.listen(64)
    print(os.getpid(), flush=True)
    while True:
        serve(server.accept()[0])
