# An HTTP/3 server by aioquic: files of a folder, and to uploads what was uploaded. At SIGTERM it closes its
# connections. Arguments: the file for the port, certificate, key, folder, port (0: any).
import asyncio
import os
import signal
import sys

from aioquic.asyncio import QuicConnectionProtocol, serve
from aioquic.h3.connection import H3_ALPN, H3Connection
from aioquic.h3.events import DataReceived, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ProtocolNegotiated

port_file, cert, key, folder, port = sys.argv[1:]
connections = set()
tickets = {}


class Server(QuicConnectionProtocol):
    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.http, self.bodies = None, {}
        connections.add(self)

    def connection_lost(self, error):
        connections.discard(self)

    def quic_event_received(self, event):
        if isinstance(event, ProtocolNegotiated):
            self.http = H3Connection(self._quic)
        for http_event in self.http.handle_event(event) if self.http else []:
            self.http_event_received(http_event)

    def http_event_received(self, event):
        if isinstance(event, HeadersReceived) and event.stream_id not in self.bodies:
            fields = dict(event.headers)
            self.bodies[event.stream_id] = (fields[b":method"], fields[b":path"], bytearray())
        elif isinstance(event, DataReceived):
            self.bodies[event.stream_id][2].extend(event.data)
        if getattr(event, "stream_ended", False):
            self.answer(event.stream_id, *self.bodies.pop(event.stream_id))

    def answer(self, stream, method, path, body):
        status = b"200"
        if method in (b"GET", b"HEAD"):
            file = os.path.join(folder, os.path.basename(path.split(b"?")[0]).decode())
            try:
                with open(file, "rb") as content:
                    body = content.read()
            except OSError:
                status, body = b"404", b""
        fields = [(b":status", status), (b"content-length", str(len(body)).encode())]
        self.http.send_headers(stream, fields)
        self.http.send_data(stream, b"" if method == b"HEAD" else bytes(body), end_stream=True)
        self.transmit()


async def main():
    configuration = QuicConfiguration(is_client=False, alpn_protocols=H3_ALPN)
    configuration.load_cert_chain(cert, key)
    server = await serve(
        "127.0.0.1",
        int(port),
        configuration=configuration,
        create_protocol=Server,
        session_ticket_handler=lambda ticket: tickets.update({ticket.ticket: ticket}),
        session_ticket_fetcher=lambda label: tickets.pop(label, None),
    )
    bound = server._transport.get_extra_info("sockname")[1]
    with open(port_file + ".new", "w") as file:
        file.write(f"{bound}\n")
    os.rename(port_file + ".new", port_file)
    ends = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ends.set)
    await ends.wait()
    for connection in list(connections):
        connection.close()
    server.close()


asyncio.run(main())
