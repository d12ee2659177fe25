"""Serves a folder by HTTP, HTTPS and FTP until it is killed: serve.py FOLDER CERTIFICATE KEY; prints each port."""

import functools
import http.server
import ssl
import sys
import threading

from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.handlers import FTPHandler
from pyftpdlib.servers import FTPServer

folder, certificate, key = sys.argv[1:]
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
for scheme in ("http", "https"):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    if scheme == "https":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(scheme, server.server_address[1])

authorizer = DummyAuthorizer()
authorizer.add_anonymous(folder)
FTPHandler.authorizer = authorizer
ftp = FTPServer(("127.0.0.1", 0), FTPHandler)
print("ftp", ftp.address[1])
ftp.serve_forever()
