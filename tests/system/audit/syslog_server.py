# SPDX-License-Identifier: MIT
# A syslog server for tests, strict about framing: syslog_server.py KIND PORT_FILE OUT [PORT
# [CERTIFICATE KEY]] KIND: udp, tcp, tls, or hang (accepts and never reads). OUT gets one message a
# line.
import os
import socket
import ssl
import sys
import time

kind, port_file, out = sys.argv[1:4]
port = int(sys.argv[4]) if len(sys.argv) > 4 else 0
messages = open(out, "ab", buffering=0)
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM)
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
if kind == "hang":
    server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
server.bind(("127.0.0.1", port))
if kind != "udp":
    server.listen(5)
with open(port_file + ".new", "w") as f:
    f.write(str(server.getsockname()[1]))
os.rename(port_file + ".new", port_file)
while kind == "udp":
    messages.write(server.recv(65536) + b"\n")
while True:
    client, _ = server.accept()
    if kind == "hang":
        time.sleep(1000)
    if kind == "tls":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[5], sys.argv[6])
        try:
            client = context.wrap_socket(client, server_side=True)
        except OSError:
            continue
    stream = client.makefile("rb")
    while True:
        digits = b""
        byte = stream.read(1)
        while byte and byte != b" ":
            if not byte.isdigit() or len(digits) > 7:
                sys.exit("a frame does not begin with its length: %r" % (digits + byte))
            digits += byte
            byte = stream.read(1)
        if not byte:
            break
        message = stream.read(int(digits))
        if len(message) == int(digits):
            messages.write(message + b"\n")
