# SPDX-License-Identifier: MIT
# Serves sets of keys over HTTPS for tests: https_server.py FOLDER CERTIFICATE KEY [PORT]
# Writes the port to FOLDER/port. GET /NAME returns FOLDER/NAME.json, or behaves as the word in
# FOLDER/NAME.mode: 500, redirect, large, no-json, hang, endless. Each request is a line of
# FOLDER/requests.
import http.server
import os
import ssl
import sys
import time

folder, certificate, key = sys.argv[1:4]


def read(name, default=b""):
    try:
        with open(os.path.join(folder, name), "rb") as f:
            return f.read()
    except FileNotFoundError:
        return default


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *words):
        pass

    def answer(self, status, body, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        name = os.path.basename(self.path)
        mode = read(name + ".mode").decode().strip()
        with open(os.path.join(folder, "requests"), "a") as f:
            f.write("%s %s %s\n" % (name, self.headers.get("Authorization"), self.headers.get("User-Agent")))
        if mode == "hang":
            time.sleep(1000)
        elif mode == "500":
            self.answer(500, read("good.json"))
        elif mode == "redirect":
            self.answer(302, b"", Location="/good")
        elif mode == "large":
            self.answer(200, read("good.json") + b" " * 300000)
        elif mode == "endless":
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            while True:
                self.wfile.write(b"10000\r\n" + b" " * 65536 + b"\r\n")
        elif mode == "no-json":
            self.answer(200, b"<html>the keys moved</html>")
        else:
            body = read(name + ".json")
            self.answer(200 if body else 404, body)


class Server(http.server.ThreadingHTTPServer):
    allow_reuse_address = True
    daemon_threads = True

    def handle_error(self, *words):
        pass  # clients that end a connection


server = Server(("127.0.0.1", int(sys.argv[4]) if len(sys.argv) > 4 else 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
# The handshake runs in the handler's thread: a refused client ends only this thread.
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
with open(os.path.join(folder, "port.new"), "w") as f:
    f.write(str(server.server_address[1]))
os.rename(os.path.join(folder, "port.new"), os.path.join(folder, "port"))
server.serve_forever()
