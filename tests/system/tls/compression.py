#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Offers DEFLATE and no compression to a server of TLS 1.2, in this order, and prints the number of
the server's choice: 0 = none. Debian's sslscan and OpenSSL are built without compression, so they
cannot offer it.

compression.py HOST PORT
"""

import os
import socket
import struct
import sys

SUITES = bytes.fromhex("c02fc030c02bc02c009c002f")


def vector(width, data):
    return len(data).to_bytes(width, "big") + data


def extension(number, data):
    return struct.pack(">H", number) + vector(2, data)


def hello():
    extensions = (
        extension(10, vector(2, bytes.fromhex("0017001d")))  # groups
        + extension(11, vector(1, b"\0"))  # forms of points
        + extension(13, vector(2, bytes.fromhex("040108040403")))  # signatures
    )
    body = b"\x03\x03" + os.urandom(32) + vector(1, b"") + vector(2, SUITES) + vector(1, b"\x01\x00") + vector(2, extensions)
    return b"\x16\x03\x01" + vector(2, b"\x01" + vector(3, body))


def receive(connection, count):
    data = b""
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            sys.exit("the server closed the connection")
        data += part
    return data


with socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=20) as connection:
    connection.sendall(hello())
    kind, _, size = struct.unpack(">BHH", receive(connection, 5))
    record = receive(connection, size)
    if kind != 22 or record[0] != 2:
        sys.exit(f"no ServerHello but a record of type {kind}: {record[:8].hex()}")
    session = record[38]  # after type, length, version and random
    print(record[39 + session + 2])
