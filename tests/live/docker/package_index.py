# SPDX-License-Identifier: MIT
"""An index of generated packages, for test_packages.c. Arguments: two ports, which serve the same
packages, and a text that changes the packages of ONCE from run to run. Prints its address when it is
ready."""
import base64
import hashlib
import io
import json
import os
import socket
import sys
import threading
import time
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT, OTHER = int(sys.argv[1]), int(sys.argv[2])


def wheel(name, version, requires=(), tag="py3-none-any", extra=()):
    """Returns a wheel with one module NAME, whose VALUE is the version."""
    info = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + "".join(f"Requires-Dist: {each}\n" for each in requires)
    files = {
        f"{name}/__init__.py": f"VALUE = {version!r}\n".encode(),
        f"{info}/METADATA": metadata.encode(),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: {tag}\n".encode(),
        **dict(extra),
    }
    records = [f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}" for path, data in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*records, f"{info}/RECORD,,"]).encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, (2024, 1, 1, 0, 0, 0))
            entry.external_attr = (0o104755 if path.endswith("setuid") else 0o100644) << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return f"{name}-{version}-{tag}.whl", out.getvalue()


GOOD = {
    "good/setuid": b"#!/bin/sh\n",
    "good-1.0.data/scripts/tool": b"#!python\n",
    "good.pth": b"import sys; sys.stdout.write('start')\n",
    "sitecustomize.py": b"print('start')\n",
}
STARTS = b"import os, sys\ntry:\n    pid = os.fork()\n    pid or os._exit(0)\n    sys.early = os.waitpid(pid, 0)\nexcept OSError:\n    pass\n"
WHEELS = [
    wheel("good", "1.0", ["good-part>=1"], extra=GOOD.items()),
    wheel("good_part", "2.0"),
    wheel("good_part", "0.9"),
    wheel("needs_first", "1.0", ["good-part<1"]),
    wheel("needs_second", "1.0", ["good-part>=2"]),
    wheel("held", "1.0"),
    wheel("retracted", "1.0"),
    wheel("foreign", "1.0", tag="cp27-cp27m-win32"),
    wheel("altered", "1.0"),
    wheel("large", "1.0", extra={"large/data": bytes(8 << 20)}.items()),
    wheel("moved_file", "1.0"),
    wheel("squatter", "1.0", extra={"IPython/__init__.py": b""}.items()),
    wheel("shadows", "1.0", extra={"json/__init__.py": b""}.items()),
    wheel("bottleneck", "1.0", extra={"bottleneck/__init__.py": STARTS, "apport_python_hook.py": STARTS}.items()),
    wheel("start_up", "1.0", extra={"_distutils_hack/__init__.py": b""}.items()),
    wheel("within", "1.0", ["six"], extra={"within-1.0.data/data/lib/python/six.py": b""}.items()),
    wheel("six", "9.0"),
    wheel("disguised", "1.0", extra={"disguised-1.0.data/purelib/good_part-2.0.dist-info/RECORD": b""}.items()),
    wheel("unguarded", "1.0", extra={"bottleneck/__init__.py": b""}.items()),
    wheel("pulls_blocked", "1.0", ["paramiko"]),
    wheel("paramiko", "3.0"),
    wheel("pulls_old", "1.0", ["urllib3<1.26"]),
    wheel("urllib3", "1.25.0"),
]
# Packages that no layer contains, with 8 MiB each.
ONCE = sys.argv[3].encode() if len(sys.argv) > 3 else b""
WHEELS += [wheel(f"once_{each}", "1.0", extra={f"once_{each}/data": ONCE + bytes(8 << 20)}.items()) for each in "abcdef"]
FILES = dict(WHEELS)
FILES["only_source-1.0.tar.gz"] = b"no archive"


# Packages whose files are on another port of this private address, on the loopback address of the
# client, and in the client's file system.
POINTING = {"points-home": "file:///files/good_part-2.0-py3-none-any.whl", "points-elsewhere": "http://{host}:{other}/files/good_part-2.0-py3-none-any.whl", "points-inside": "http://127.1:8080/files/good_part-2.0-py3-none-any.whl"}


def pointing(name, host):
    """Returns the page for pip, and the document for npm, of a package of POINTING."""
    file = POINTING[name].format(host=host, other=OTHER)
    hashed = hashlib.sha256(FILES["good_part-2.0-py3-none-any.whl"]).hexdigest()
    page = f'<!DOCTYPE html><html><body><a href="{file.replace("good_part-2.0", name.replace("-", "_") + "-1.0")}#sha256={hashed}">{name.replace("-", "_")}-1.0-py3-none-any.whl</a></body></html>'
    version = {"name": name, "version": "1.0.0", "dist": {"tarball": file, "integrity": "sha512-" + base64.b64encode(bytes(64)).decode()}}
    return page, json.dumps({"name": name, "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}})


def link(file):
    wrong = "0" * 64 if file.startswith("altered") else hashlib.sha256(FILES[file]).hexdigest()
    yanked = ' data-yanked="it is broken"' if file.startswith("retracted") else ""
    return f'<a href="/files/{file}#sha256={wrong}"{yanked}>{file}</a>'


class Index(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        folder, _, name = self.path.strip("/").partition("/")
        name = name or folder  # npm requests /NAME
        elsewhere = f"http://{self.headers['Host'].partition(':')[0]}:{OTHER}{self.path}"
        moves = self.server.server_port == PORT and (name == "moved" or name.startswith("moved_file"))
        while name == "held" and not os.path.exists("/tmp/released"):
            time.sleep(0.05)
        if name == "hangs":
            threading.Event().wait()
        elif name in POINTING:
            page, document = pointing(name, self.headers["Host"].partition(":")[0])
            self.answer(200, (page if folder == "simple" else document).encode(), Content_Type="text/html" if folder == "simple" else "application/json")
        elif moves:
            self.answer(302, Location=elsewhere)
        elif folder == "files" and name in FILES:
            self.answer(200, FILES[name], Content_Type="application/octet-stream")
        elif found := [file for file in FILES if file.partition("-")[0].replace("_", "-") == name]:
            self.answer(200, f"<!DOCTYPE html><html><body>{''.join(map(link, found))}</body></html>".encode(), Content_Type="text/html")
        else:
            self.answer(404)

    def log_message(self, *words):
        pass


for port in (PORT, OTHER):
    server = ThreadingHTTPServer(("", port), Index)
    threading.Thread(target=server.serve_forever).start()
print(f"ready {socket.gethostbyname(socket.gethostname())}", flush=True)
