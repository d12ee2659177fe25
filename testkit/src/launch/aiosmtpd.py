"""An SMTP server in Python, by aiosmtpd: PORT-FILE CERTIFICATE KEY. Mails are kept as files beside the port's."""
import asyncio
import os
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

port_file, certificate, key = sys.argv[1:]


class Keep:
    def __init__(self):
        self.count = 0

    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("nobody@"):
            return "550 no such user"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        self.count += 1
        with open(f"{port_file}.mail-{self.count}", "wb") as file:
            file.write(envelope.original_content)
        return "250 kept"


def authenticate(server, session, envelope, mechanism, data):
    known = isinstance(data, LoginPassword) and (data.login, data.password) == (b"user", b"secret")
    return AuthResult(success=known, handled=False)


async def main():
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    handler = Keep()

    def talk():
        return SMTP(
            handler,
            hostname="localhost",
            data_size_limit=100 << 20,
            enable_SMTPUTF8=True,
            tls_context=context,
            authenticator=authenticate,
            auth_require_tls=False,
        )

    server = await asyncio.get_running_loop().create_server(talk, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    with open(port_file + ".new", "w") as file:
        file.write(f"port {port}\n")
    os.rename(port_file + ".new", port_file)
    await server.serve_forever()


asyncio.run(main())
