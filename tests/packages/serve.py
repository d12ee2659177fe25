"""Serves a folder until it is killed: serve.py FOLDER CERTIFICATE KEY; prints each port, and `ready`.

HTTP and HTTPS, the latter with ranges of bytes as the former; FTP, too, where pyftpdlib is installed.
"""

import functools
import http.server
import io
import os
import re
import ssl
import sys
import threading


class Handler(http.server.SimpleHTTPRequestHandler):
    """Python's own handler, which knows no ranges: GDAL and zypper ask for some."""

    def send_head(self):
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        path = self.translate_path(self.path)
        if not wanted or not os.path.isfile(path):
            return super().send_head()
        with open(path, "rb") as file:
            data = file.read()
        first, last = int(wanted[1]), min(int(wanted[2] or len(data)), len(data) - 1)
        if first > last:
            self.send_error(416)
            return None
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
        self.send_header("Content-Length", str(last + 1 - first))
        self.end_headers()
        return io.BytesIO(data[first : last + 1])

    def end_headers(self):
        self.send_header("Accept-Ranges", "bytes")
        super().end_headers()


folder, certificate, key = sys.argv[1:]
handler = functools.partial(Handler, directory=folder)
for scheme in ("http", "https"):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    if scheme == "https":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(scheme, server.server_address[1])

try:
    from pyftpdlib.authorizers import DummyAuthorizer
    from pyftpdlib.handlers import FTPHandler
    from pyftpdlib.servers import FTPServer
except ImportError:
    print("ready", flush=True)
    threading.Event().wait()
authorizer = DummyAuthorizer()
authorizer.add_anonymous(folder)
FTPHandler.authorizer = authorizer
ftp = FTPServer(("127.0.0.1", 0), FTPHandler)
print("ftp", ftp.address[1])
print("ready", flush=True)
ftp.serve_forever()
