"""A SOCKS 5 proxy that wants a ticket (RFC 1928, RFC 1961): the acceptor is MIT Kerberos' through python3-gssapi.

Usage: socks_gssapi.py LEVEL LOG. It writes its port to LOG. LEVEL is what it answers to the wish for protection: a number, `wanted` for what was
asked for, `nec` for 0 without protection of the answer itself, as NEC's server does it, `eager` for 0 and the choice of the
method before any is offered. Each login is a line in LOG: who, which level was asked for, which was answered; and then where to.
Written from the RFCs; the protection of data is section 5.

With `client PORT LEVEL HOST:PORT` it is the client: it asks the proxy at PORT for that, sends a request and prints what comes.
"""

import socket
import struct
import sys
import threading

import gssapi


class Refused(Exception):
    pass


def exactly(stream, length):
    data = b""
    while len(data) < length:
        piece = stream.recv(length - len(data))
        if not piece:
            raise EOFError
        data += piece
    return data


def message(kind, token):
    return struct.pack("!BBH", 1, kind, len(token)) + token


def receive(stream, kind):
    version, found, length = struct.unpack("!BBH", exactly(stream, 4))
    if (version, found) != (1, kind):
        raise Refused(f"message {version} {found} instead of {kind}")
    return exactly(stream, length)


class Plain:
    def __init__(self, stream):
        self.stream = stream

    def read(self, length):
        return exactly(self.stream, length)

    def read_some(self):
        return self.stream.recv(65536)

    def write(self, data):
        self.stream.sendall(data)


class Sealed:
    """Everything in messages of the context."""

    def __init__(self, stream, context, level):
        self.stream, self.context, self.level = stream, context, level
        self.rest = b""
        self.lock = threading.Lock()

    def read_some(self):
        if self.rest:
            data, self.rest = self.rest, b""
            return data
        try:
            token = receive(self.stream, 3)
        except EOFError:
            return b""
        with self.lock:
            data, encrypted, _ = self.context.unwrap(token)
        if self.level == 2 and not encrypted:
            raise Refused("a message that is not encrypted")
        return data

    def read(self, length):
        data = b""
        while len(data) < length:
            piece = self.read_some()
            if not piece:
                raise EOFError
            data += piece
        data, self.rest = data[:length], data[length:]
        return data

    def write(self, data):
        # Pieces of an odd size, so that reads and messages do not coincide.
        for at in range(0, len(data), 10007):
            with self.lock:
                token = self.context.wrap(data[at : at + 10007], self.level != 1).message
            self.stream.sendall(message(3, token))


def log_in(stream, credentials, wish):
    if wish == "eager":
        stream.sendall(b"\x05\x01")
    version, count = exactly(stream, 2)
    methods = exactly(stream, count)
    if version != 5 or 1 not in methods:
        stream.sendall(b"\x05\xff")
        raise Refused(f"version {version}, methods {list(methods)}")
    if wish != "eager":
        stream.sendall(b"\x05\x01")
    context = gssapi.SecurityContext(creds=credentials, usage="accept")
    while not context.complete:
        token = context.step(receive(stream, 1))
        if token:
            stream.sendall(message(1, token))
    asked = receive(stream, 2)
    if wish != "nec":
        asked = context.unwrap(asked).message
    (asked,) = asked
    level = {"wanted": asked, "nec": 0, "eager": 0}.get(wish, None)
    level = int(wish) if level is None else level
    answer = bytes([level])
    if wish != "nec":
        answer = context.wrap(answer, False).message
    stream.sendall(message(2, answer))
    return context, asked, level


def connect(way):
    version, command, _, kind = way.read(4)
    if (version, command) != (5, 1):
        raise Refused(f"request {version} {command}")
    if kind == 3:
        host = way.read(way.read(1)[0]).decode()
    else:
        family = socket.AF_INET if kind == 1 else socket.AF_INET6
        host = socket.inet_ntop(family, way.read(4 if kind == 1 else 16))
    (port,) = struct.unpack("!H", way.read(2))
    server = socket.create_connection((host, port))
    way.write(b"\x05\0\0\x01\x7f\0\0\x01" + struct.pack("!H", server.getsockname()[1]))
    return server, f"{host}:{port}"


def relay(way, server):
    def up():
        try:
            while data := way.read_some():
                server.sendall(data)
            server.shutdown(socket.SHUT_WR)
        except (OSError, EOFError):
            pass

    threading.Thread(target=up, daemon=True).start()
    while data := server.recv(65536):
        way.write(data)


def serve(stream, credentials, wish, log):
    try:
        context, asked, level = log_in(stream, credentials, wish)
        way = Sealed(stream, context, level) if level else Plain(stream)
        print(f"{context.initiator_name} asked={asked} level={level}", file=log, flush=True)
        server, where = connect(way)
        print(f"to {where}", file=log, flush=True)
        with server:
            relay(way, server)
    except (Refused, EOFError, OSError, gssapi.exceptions.GSSError) as error:
        print(f"refused: {error!r}", file=log, flush=True)
    finally:
        # Closing alone says nothing while the other thread still reads.
        try:
            stream.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        stream.close()


def client(port, wanted, host, to):
    """The other side, by the same library."""
    stream = socket.create_connection(("localhost", port))
    stream.sendall(b"\x05\x01\x01")
    assert exactly(stream, 2) == b"\x05\x01"
    name = gssapi.Name("rcmd@localhost", gssapi.NameType.hostbased_service)
    flags = gssapi.RequirementFlag
    flags = flags.mutual_authentication | flags.confidentiality | flags.integrity
    context = gssapi.SecurityContext(name=name, flags=flags, usage="initiate")
    token = context.step()
    while token:
        stream.sendall(message(1, token))
        token = None if context.complete else context.step(receive(stream, 1))
    stream.sendall(message(2, context.wrap(bytes([wanted]), False).message))
    (level,) = context.unwrap(receive(stream, 2)).message
    way = Sealed(stream, context, level) if level else Plain(stream)
    way.write(struct.pack("!BBBBB", 5, 1, 0, 3, len(host)) + host.encode() + struct.pack("!H", to))
    assert way.read(10)[:2] == b"\x05\0"
    way.write(b"GET /bytes/100000 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    while data := way.read_some():
        sys.stdout.buffer.write(data)


def main():
    if sys.argv[1] == "client":
        host, to = sys.argv[4].split(":")
        return client(int(sys.argv[2]), int(sys.argv[3]), host, int(to))
    wish, log = sys.argv[1], open(sys.argv[2], "w")
    credentials = gssapi.Credentials(usage="accept")
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"port {listener.getsockname()[1]}", file=log, flush=True)
    while True:
        stream, _ = listener.accept()
        threading.Thread(target=serve, args=(stream, credentials, wish, log), daemon=True).start()


main()
