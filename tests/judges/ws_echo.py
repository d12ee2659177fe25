"""An echo client by libcurl's WebSocket functions, for a server that runs cases.

Usage: ws_echo.py LIBRARY URL [deflate]. Asks the server for the number of cases, runs each on a connection
of its own, and ends the run. libcurl leaves to the application: to answer a close frame, and to check that
text is UTF-8. This client does both, and nothing else.
"""

import codecs
import ctypes
import select
import sys

OK, AGAIN = 0, 81
URL, CONNECT_ONLY, TIMEOUT_MS, ACTIVE_SOCKET = 10002, 141, 155, 0x500000 + 44
TEXT, BINARY, CONT, CLOSE, PING, OFFSET, PONG = 1, 2, 4, 8, 16, 32, 64
SILENT_S = 30
# The codes that a peer may send (RFC 6455, section 7.4), besides those of applications.
CODES = {1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011}


class Frame(ctypes.Structure):
    _fields_ = [
        ("age", ctypes.c_int),
        ("flags", ctypes.c_int),
        ("offset", ctypes.c_int64),
        ("bytesleft", ctypes.c_int64),
        ("len", ctypes.c_size_t),
    ]


class Failure(Exception):
    """The connection has ended, or the peer has broken a rule; `code` is what to close with."""

    def __init__(self, code=None):
        super().__init__(code)
        self.code = code


def load(path):
    library = ctypes.CDLL(path)
    library.curl_easy_init.restype = ctypes.c_void_p
    pointer, size = ctypes.c_void_p, ctypes.POINTER(ctypes.c_size_t)
    library.curl_ws_recv.argtypes = [pointer, pointer, ctypes.c_size_t, size, ctypes.POINTER(ctypes.POINTER(Frame))]
    library.curl_ws_send.argtypes = [pointer, pointer, ctypes.c_size_t, size, ctypes.c_int64, ctypes.c_uint]
    return library


class Connection:
    def __init__(self, library, url, deflate=False):
        self.library = library
        self.easy = ctypes.c_void_p(library.curl_easy_init())
        library.curl_easy_setopt(self.easy, URL, ctypes.c_char_p(url.encode()))
        library.curl_easy_setopt(self.easy, CONNECT_ONLY, ctypes.c_long(2))
        library.curl_easy_setopt(self.easy, TIMEOUT_MS, ctypes.c_long(20_000))
        if deflate:
            library.warmwire_websocket(self.easy, ctypes.c_long(1))
        self.failed = library.curl_easy_perform(self.easy)
        self.buffer = ctypes.create_string_buffer(1 << 16)
        socket = ctypes.c_int(-1)
        library.curl_easy_getinfo(self.easy, ACTIVE_SOCKET, ctypes.byref(socket))
        self.socket = socket.value

    def close(self):
        self.library.curl_easy_cleanup(self.easy)

    def wait(self, writing=False):
        sets = ([], [self.socket]) if writing else ([self.socket], [])
        if not any(select.select(*sets, [], SILENT_S)):
            raise Failure

    def receive(self):
        """Returns the next piece: its bytes, the flags of its frame, and whether it ends the frame."""
        received, meta = ctypes.c_size_t(), ctypes.POINTER(Frame)()
        while True:
            code = self.library.curl_ws_recv(
                self.easy, self.buffer, len(self.buffer), ctypes.byref(received), ctypes.byref(meta)
            )
            if code == OK:
                return self.buffer.raw[: received.value], meta.contents.flags, meta.contents.bytesleft == 0
            if code != AGAIN:
                raise Failure
            self.wait()

    def send(self, data, flags):
        sent, at = ctypes.c_size_t(), 0
        whole = ctypes.create_string_buffer(data, len(data) + 1)
        while True:
            place = ctypes.c_void_p(ctypes.addressof(whole) + at)
            code = self.library.curl_ws_send(self.easy, place, len(data) - at, ctypes.byref(sent), 0, flags)
            at += sent.value if code in (OK, AGAIN) else 0
            if code not in (OK, AGAIN):
                raise Failure
            if code == OK and at >= len(data):
                return
            if code == AGAIN:
                self.wait(writing=True)


def closing(payload):
    """Returns the payload of the answer to a close frame."""
    if not payload:
        return b""
    code = int.from_bytes(payload[:2], "big")
    if len(payload) == 1 or code not in CODES and not 3000 <= code < 5000:
        raise Failure(1002)
    try:
        payload[2:].decode()
    except UnicodeDecodeError:
        raise Failure(1007) from None
    return payload[:2]


def messages(connection):
    """Yields each message with its kind, and answers the close frame that ends them."""
    message, control, kind, decoder = [], [], 0, None
    while True:
        data, flags, ends = connection.receive()
        if flags & (CLOSE | PING | PONG):
            control.append(data)
            if ends:
                if flags & CLOSE:
                    connection.send(closing(b"".join(control)), CLOSE)
                    return
                control = []
            continue
        if decoder is None:
            kind, decoder = flags & (TEXT | BINARY), codecs.getincrementaldecoder("utf-8")()
        message.append(data)
        final = ends and not flags & CONT
        if kind == TEXT:
            try:
                decoder.decode(data, final)
            except UnicodeDecodeError:
                raise Failure(1007) from None
        if final:
            yield b"".join(message), kind
            message, decoder = [], None


def run(library, url, deflate, answer):
    connection = Connection(library, url, deflate)
    try:
        if connection.failed:
            return
        for data, kind in messages(connection):
            answer(connection, data, kind)
    except Failure as failure:
        if failure.code is not None:
            try:
                connection.send(failure.code.to_bytes(2, "big"), CLOSE)
            except Failure:
                pass
    finally:
        connection.close()


def main():
    library, url = load(sys.argv[1]), sys.argv[2]
    deflate = "deflate" in sys.argv[3:]
    counts = []
    run(library, f"{url}/getCaseCount", False, lambda _, data, __: counts.append(int(data)))
    for case in range(1, counts[0] + 1):
        run(library, f"{url}/runCase?case={case}&agent=echo", deflate, Connection.send)
    run(library, f"{url}/updateReports?agent=echo", False, lambda *_: None)


main()
