"""Servers in the tests' own process, whose replies a test writes."""

import contextlib
import http.server
import socket
import threading
import time
from email.utils import formatdate


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_GET(self):
        self.server.reply(self)

    do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_CONNECT = do_GET

    def log_message(self, *_):
        pass


class Site(http.server.ThreadingHTTPServer):
    """A server that counts, and breaks off where its settings say so."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, reply, tls=None, at=("127.0.0.1", 0)):
        super().__init__(at, Handler)
        if tls is not None:
            self.socket = tls.wrap_socket(self.socket, server_side=True)
        self.lock, self.now, self.most, self.seen = threading.Lock(), 0, 0, []
        self._reply = reply
        self.root = f"http{'s' if tls else ''}://{at[0]}:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def reply(self, handler):
        with self.lock:
            self.seen.append((handler.path, handler.headers.get("Range"), handler.headers.get("If-Range")))
            self.now += 1
            self.most = max(self.most, self.now)
        self._reply(handler)
        with self.lock:
            self.now -= 1


class NameServer:
    """A name server that answers one question after the other, ``seconds`` after it. It knows no name (NXDOMAIN), unless it has a
    ``place``: then each name has that address, for a second."""

    def __init__(self, seconds=0, place=None):
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self._socket.bind(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._socket.getsockname()[1]}"
        self.questions, self._seconds, self.place = 0, seconds, place
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            question, client = self._socket.recvfrom(512)
            self.questions += 1
            time.sleep(self._seconds)
            self._socket.sendto(self._reply(question), client)

    def _reply(self, question):
        # RFC 1035, section 4.1.1: a reply of a recursive server, and the question again.
        if self.place is None:
            return question[:2] + b"\x81\x83" + question[4:6] + bytes(6) + question[12:]
        end = question.index(0, 12) + 5
        is_v4 = question[end - 4 : end - 2] == b"\0\1"
        record = b"\xc0\x0c\0\1\0\1\0\0\0\1\0\4" + socket.inet_aton(self.place) if is_v4 else b""
        return question[:2] + b"\x81\x80\0\1\0" + bytes([is_v4]) + bytes(4) + question[12:end] + record


def answer(handler, body, status=200, **fields):
    handler.send_response(status)
    handler.send_header("Content-Length", str(len(body)))
    for name, value in fields.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    if handler.command != "HEAD":
        handler.wfile.write(body)


def breaking(body, piece):
    """A reply of a server that knows ranges and ends each connection after so many bytes of the body."""

    def reply(handler):
        given = handler.headers.get("Range")
        start = int(given.split("=")[1].rstrip("-")) if given else 0
        handler.send_response(206 if given else 200)
        handler.send_header("Content-Length", str(len(body) - start))
        if given:
            handler.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        handler.send_header("ETag", '"one"')
        handler.end_headers()
        handler.wfile.write(body[start : start + piece])
        handler.wfile.flush()
        handler.close_connection = start + piece < len(body)

    return reply


def folder(path, dated=True):
    """A reply with the files below a folder, and ranges of them; ``dated`` with when they were changed."""

    def reply(handler):
        file = path / handler.path.strip("/")
        if not file.is_file():
            return answer(handler, b"", 404)
        body = file.read_bytes()
        given = handler.headers.get("Range")
        fields = {"Accept_Ranges": "bytes"}
        if dated:
            fields["Last_Modified"] = formatdate(file.stat().st_mtime, usegmt=True)
        if not given:
            return answer(handler, body, **fields)
        first, last = given.removeprefix("bytes=").split("-")
        start, end = (int(first), int(last) + 1 if last else len(body)) if first else (len(body) - int(last), len(body))
        part = body[start:end]
        return answer(handler, part, 206, Content_Range=f"bytes {start}-{start + len(part) - 1}/{len(body)}", **fields)

    return reply


def tunnel(handler):
    """A reply of a proxy to CONNECT: what comes goes on to where it said, and back, until one of the two ends."""
    host, _, port = handler.path.rpartition(":")
    with socket.create_connection((host, int(port))) as there:
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.flush()
        thread = threading.Thread(target=_shovel, args=(handler.connection, there), daemon=True)
        thread.start()
        _shovel(there, handler.connection)
        thread.join()
    handler.close_connection = True


def _shovel(source, into):
    with contextlib.suppress(OSError):
        while piece := source.recv(65536):
            into.sendall(piece)
    for each in (source, into):
        with contextlib.suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
