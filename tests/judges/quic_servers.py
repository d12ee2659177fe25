"""An HTTP/3 server of aioquic, and a relay that loses chosen datagrams, each in its own thread."""

import asyncio
import contextlib
import datetime
import socket
import threading

from aioquic.asyncio import QuicConnectionProtocol
from aioquic.asyncio.server import QuicServer
from aioquic.h3.connection import H3_ALPN, H3Connection
from aioquic.h3.events import DataReceived, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ProtocolNegotiated
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


def write_certificate(folder):
    """Writes a certificate for localhost, which is its own anchor, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.timezone.utc)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=10))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "cert.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    encryption = serialization.NoEncryption()
    encoded = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption)
    (folder / "key.pem").write_bytes(encoded)
    return folder / "cert.pem", folder / "key.pem"


class Loop:
    """An event loop in a thread."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def call(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(30)

    def stop(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)


class H3Protocol(QuicConnectionProtocol):
    """Answers GET with the body, and an upload with what was uploaded."""

    body = b""
    # Whether each reply begins with new keys.
    renews = False
    seen = None
    server = None

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.http, self.uploads = None, {}
        self.seen.append(self._quic)

    def quic_event_received(self, event):
        if isinstance(event, ProtocolNegotiated):
            self.http = H3Connection(self._quic)
        for received in self.http.handle_event(event) if self.http else []:
            self.received(received)

    def received(self, event):
        if isinstance(event, HeadersReceived):
            method = dict(event.headers)[b":method"]
            self.uploads.setdefault(event.stream_id, (method, bytearray()))
        elif isinstance(event, DataReceived):
            self.uploads[event.stream_id][1].extend(event.data)
        if event.stream_ended:
            method, upload = self.uploads.pop(event.stream_id)
            body = self.body if method == b"GET" else bytes(upload)
            if self.renews:
                self._quic.request_key_update()
                self.server.phases += 1
            fields = [(b":status", b"200"), (b"content-length", str(len(body)).encode())]
            self.http.send_headers(event.stream_id, fields)
            self.http.send_data(event.stream_id, body, end_stream=True)
            self.transmit()


class H3Server:
    """The server; `connections` are aioquic's connections in the order of their coming."""

    def __init__(self, folder, body, retry=False, renews=False, **options):
        certificate, key = write_certificate(folder)
        self.certificate, self.connections, self.phases = certificate, [], 0
        configuration = QuicConfiguration(is_client=False, alpn_protocols=H3_ALPN, **options)
        configuration.load_cert_chain(certificate, key)
        self.kind = type("Protocol", (H3Protocol,), {"body": body, "renews": renews, "seen": self.connections, "server": self})
        self.loop = Loop()
        self.server = self.loop.call(self.listen(configuration, retry))
        self.port = self.server._transport.get_extra_info("sockname")[1]

    async def listen(self, configuration, retry):
        loop = asyncio.get_running_loop()
        made = lambda: QuicServer(configuration=configuration, create_protocol=self.kind, retry=retry)
        _, server = await loop.create_datagram_endpoint(made, local_addr=("127.0.0.1", 0))
        return server

    def close(self):
        async def end():
            self.server.close()

        self.loop.call(end())
        self.loop.stop()


class Relay:
    """Passes datagrams between one client and the server, except those that `loses(outward, number)`."""

    def __init__(self, port, loses):
        self.loses, self.lost, self.counts = loses, [], {True: 0, False: 0}
        self.client = None
        self.near = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.near.bind(("127.0.0.1", 0))
        self.far = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.far.connect(("127.0.0.1", port))
        self.port = self.near.getsockname()[1]
        self.ends = False
        self.threads = [threading.Thread(target=self.pass_on, args=(way,), daemon=True) for way in (True, False)]
        for thread in self.threads:
            thread.start()

    def pass_on(self, outward):
        source = self.near if outward else self.far
        source.settimeout(0.2)
        while not self.ends:
            try:
                datagram, address = source.recvfrom(65536)
            except OSError:
                continue
            if outward:
                self.client = address
            number = self.counts[outward]
            self.counts[outward] += 1
            if self.loses(outward, number):
                self.lost.append((outward, number))
                continue
            with contextlib.suppress(OSError):
                self.far.send(datagram) if outward else self.near.sendto(datagram, self.client)

    def close(self):
        self.ends = True
        for thread in self.threads:
            thread.join(5)
        self.near.close()
        self.far.close()
