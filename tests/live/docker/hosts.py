# SPDX-License-Identifier: MIT
# Hosts for tests of networks: HTTP on the ports 80 and 8080, HTTPS with the host's own certificate
# on 443. Responses name the requested host.
import http.server
import os
import ssl
import subprocess
import threading


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        path = self.path
        if path.startswith("/to/"):  # redirects to the rest of the path
            self.answer(302, b"", Location="http://" + path[4:])
        elif path.startswith("/bytes/"):
            self.answer(200, b"x" * int(path[7:]))
        elif path == "/hang":
            threading.Event().wait(60)
        else:
            self.answer(200, f"hello of {self.headers['Host']} on {self.server.server_address[1]}".encode())

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(200, b"got %d" % len(body))

    def log_message(self, *_):
        pass


def serve(port, context=None):
    server = http.server.ThreadingHTTPServer(("0.0.0.0", port), Handler)
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever).start()


with open("/tmp/pair.pem", "w") as pair:
    pair.write(os.environ["PAIR"])
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("/tmp/pair.pem")
serve(80)
serve(8080)
serve(443, context)
print("ready", flush=True)
