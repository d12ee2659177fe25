"""pyftpdlib's server over a folder of its own; ends with standard input. Prints its port.

usage: ftp_server.py [no-mlsd | tls CERTIFICATE]
"""

import sys
import tempfile
import threading
import types

from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.handlers import FTPHandler, TLS_FTPHandler
from pyftpdlib.ioloop import IOLoop
from pyftpdlib.servers import FTPServer


def one_at_a_time():
    """A loop that takes one event at a time.

    pyftpdlib's own asks whom an event is for by the number of its descriptor when its turn comes. By then the number may be that
    of a data connection accepted in the same round: it is closed for an event of another, and its 226 never comes.
    """
    loop = IOLoop()
    all_at_once = loop._poller
    names = ("register", "unregister", "modify", "close", "fileno")
    loop._poller = types.SimpleNamespace(**{name: getattr(all_at_once, name) for name in names})
    loop._poller.poll = lambda timeout: all_at_once.poll(timeout, 1)
    return loop


with tempfile.TemporaryDirectory() as folder:
    authorizer = DummyAuthorizer()
    authorizer.add_user("me", "secret", folder, perm="elradfmwMT")

    class Plain(FTPHandler):
        pass

    class Tls(TLS_FTPHandler):
        """TLS from the first byte on, as ftps has it; data connections, too."""

        tls_data_required = True

        def handle(self):
            self.secure_connection(self.ssl_context)

        def handle_ssl_established(self):
            super().handle()

    Handler = Tls if "tls" in sys.argv else Plain
    if Handler is Tls:
        Handler.certfile = sys.argv[-1]

    Handler.authorizer = authorizer
    if "no-mlsd" in sys.argv:
        Handler.proto_cmds = {name: row for name, row in FTPHandler.proto_cmds.items() if name != "MLSD"}
    server = FTPServer(("127.0.0.1", 0), Handler, ioloop=one_at_a_time())
    print(server.address[1], flush=True)

    def end():
        sys.stdin.read()
        server.close_all()

    threading.Thread(target=end, daemon=True).start()
    server.serve_forever(timeout=0.2)
