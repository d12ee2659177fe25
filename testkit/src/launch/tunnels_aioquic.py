# A proxy that speaks HTTP/3 by aioquic: CONNECT, and CONNECT for UDP, whose datagrams come and go beside the stream where the
# word datagrams says so, and as capsules on it otherwise. Each tunnel and its end are printed in a line. Arguments: the file for
# the port, certificate, key, words (idle=SECONDS: unused for so long, a connection is over; datagrams; login: who has not said "me:secret" is refused; deaf: no extended CONNECT).
import asyncio
import base64
import os
import signal
import sys
from urllib.parse import unquote

from aioquic.asyncio import QuicConnectionProtocol, serve
from aioquic.buffer import Buffer, encode_uint_var
from aioquic.h3.connection import H3_ALPN, H3Connection, Setting
from aioquic.h3.events import DataReceived, DatagramReceived, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ProtocolNegotiated, StreamReset

port_file, cert, key, *words = sys.argv[1:]
LOGIN = b"Basic " + base64.b64encode(b"me:secret")
ROOM = 1280  # what a datagram beside the stream may have in packets of 1350


class Http(H3Connection):
    def _get_local_settings(self):
        settings = super()._get_local_settings()
        settings[Setting.ENABLE_CONNECT_PROTOCOL] = int("deaf" not in words)
        settings[Setting.H3_DATAGRAM] = int("datagrams" in words)
        return settings


class Udp(asyncio.DatagramProtocol):
    def __init__(self, client, stream):
        self.client, self.stream, self.beside, self.within = client, stream, 0, 0

    def datagram_received(self, data, address):
        self.client.datagram(self.stream, data)

    def error_received(self, error):
        pass


class Client(QuicConnectionProtocol):
    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.http, self.early, self.tcp, self.udp, self.capsules = None, {}, {}, {}, {}

    def connection_lost(self, error):
        for stream in list(self.tcp) + list(self.udp):
            self.drop(stream)

    def drop(self, stream):
        if stream in self.tcp:
            self.tcp.pop(stream).close()
        if stream in self.udp:
            transport, udp = self.udp.pop(stream)
            transport.close()
            print(f"udp ends, {udp.beside} beside, {udp.within} within", flush=True)

    def quic_event_received(self, event):
        if isinstance(event, ProtocolNegotiated):
            self.http = Http(self._quic)
        if isinstance(event, StreamReset):
            self.drop(event.stream_id)
        for event in self.http.handle_event(event) if self.http else []:
            if isinstance(event, HeadersReceived):
                asyncio.ensure_future(self.request(event.stream_id, dict(event.headers)))
            elif isinstance(event, DatagramReceived):
                self.payload(event.stream_id, event.data, "beside")
            elif isinstance(event, DataReceived):
                self.data(event.stream_id, event.data)
                if event.stream_ended:
                    self.ended(event.stream_id)

    def reply(self, stream, status, *fields, end=False):
        self.http.send_headers(stream, [(b":status", status), *fields], end_stream=end)
        self.transmit()

    async def request(self, stream, fields):
        protocol, path = fields.get(b":protocol"), fields.get(b":path", b"").decode()
        if "login" in words and fields.get(b"proxy-authorization") != LOGIN:
            return self.reply(stream, b"407", (b"proxy-authenticate", b'Basic realm="p"'), end=True)
        try:
            if protocol is None and fields[b":method"] == b"CONNECT":
                host, port = fields[b":authority"].decode().rsplit(":", 1)
                print("tunnel to", host, port, flush=True)
                reader, writer = await asyncio.open_connection(host.strip("[]"), int(port))
                self.tcp[stream] = writer
                self.reply(stream, b"200")
                asyncio.ensure_future(self.copy(stream, reader))
            elif protocol == b"connect-udp":
                _, known, masque, udp, host, port, _ = path.split("/")
                assert (known, masque, udp) == (".well-known", "masque", "udp") and fields[b":scheme"] == b"https"
                assert fields[b"capsule-protocol"] == b"?1" and b":authority" in fields
                print("udp to", unquote(host), port, flush=True)
                loop = asyncio.get_running_loop()
                address = (unquote(host), int(port))
                self.udp[stream] = await loop.create_datagram_endpoint(lambda: Udp(self, stream), remote_addr=address)
                self.reply(stream, b"200", (b"capsule-protocol", b"?1"))
            else:
                return self.reply(stream, b"400", end=True)
        except OSError:
            return self.reply(stream, b"502", end=True)
        data, ended = self.early.pop(stream, (b"", False))
        self.data(stream, data)
        if ended:
            self.ended(stream)

    # What came from the client on a stream.
    def data(self, stream, data):
        if stream in self.tcp:
            self.tcp[stream].write(data)
        elif stream in self.udp:
            self.taken(stream, data)
        else:
            before, ended = self.early.get(stream, (b"", False))
            self.early[stream] = (before + data, ended)

    def ended(self, stream):
        if stream in self.tcp:
            self.tcp[stream].write_eof()
        elif stream in self.udp:
            self.drop(stream)
        else:
            self.early[stream] = (self.early.get(stream, (b"", False))[0], True)

    def taken(self, stream, data):
        held = self.capsules.get(stream, b"") + data
        while True:
            buffer = Buffer(data=held)
            try:
                kind, length = buffer.pull_uint_var(), buffer.pull_uint_var()
                value = buffer.pull_bytes(length)
            except Exception:
                break
            held = held[buffer.tell():]
            if kind == 0:
                self.payload(stream, value, "within")
        self.capsules[stream] = held

    def payload(self, stream, data, how):
        if stream in self.udp and data[:1] == b"\0":
            transport, udp = self.udp[stream]
            transport.sendto(data[1:])
            setattr(udp, how, getattr(udp, how) + 1)

    # What came for the client.
    def datagram(self, stream, data):
        if "datagrams" in words and len(data) <= ROOM:
            self.http.send_datagram(stream, b"\0" + data)
        else:
            self.http.send_data(stream, b"\0" + encode_uint_var(len(data) + 1) + b"\0" + data, end_stream=False)
        self.transmit()

    async def copy(self, stream, reader):
        while data := await reader.read(65536):
            self.http.send_data(stream, data, end_stream=False)
            self.transmit()
        self.http.send_data(stream, b"", end_stream=True)
        self.transmit()


async def main():
    configuration = QuicConfiguration(is_client=False, alpn_protocols=H3_ALPN, max_datagram_size=1350)
    for word in words:
        if word.startswith("idle="):
            configuration.idle_timeout = float(word[5:])
    if "datagrams" in words:
        configuration.max_datagram_frame_size = 65535
    configuration.load_cert_chain(cert, key)
    server = await serve("127.0.0.1", 0, configuration=configuration, create_protocol=Client)
    with open(port_file + ".new", "w") as file:
        print(server._transport.get_extra_info("sockname")[1], file=file)
    os.rename(port_file + ".new", port_file)
    ends = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ends.set)
    await ends.wait()


asyncio.run(main())
