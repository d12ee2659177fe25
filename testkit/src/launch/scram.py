"""A POP3 server over TLS with SCRAM-SHA-256-PLUS alone: PORT-FILE CERTIFICATE KEY CERTIFICATE-TO-BIND. Its own, because no
server in Debian speaks it. The last file is the certificate that it takes part in the proof: another one than its own makes it a
server with somebody in between."""
import base64
import hashlib
import hmac
import os
import socket
import ssl
import sys

told, certificate, key, bound = sys.argv[1:]
PASSWORD, SALT, COUNT = b"paIX", b"salt of this", 4096


def digest(key, text):
    return hmac.new(key, text, "sha256").digest()


def talk(stream):
    def say(text):
        stream.write(text.encode() + b"\r\n")
        stream.flush()

    def hear():
        return stream.readline().decode().rstrip("\r\n")

    say("+OK hi")
    hear()
    say("+OK\r\nSASL SCRAM-SHA-256 SCRAM-SHA-256-PLUS\r\n.")
    if hear() != "AUTH SCRAM-SHA-256-PLUS":
        say("-ERR something else")
        return
    say("+ ")
    first = base64.b64decode(hear()).decode()
    header, bare = "p=tls-server-end-point,,", first[len("p=tls-server-end-point,,"):]
    nonce = bare.split(",r=")[1] + "more"
    challenge = f"r={nonce},s={base64.b64encode(SALT).decode()},i={COUNT}"
    say("+ " + base64.b64encode(challenge.encode()).decode())
    final = base64.b64decode(hear()).decode()
    channel = hashlib.sha256(ssl.PEM_cert_to_DER_cert(open(bound).read())).digest()
    unproved = f"c={base64.b64encode(header.encode() + channel).decode()},r={nonce}"
    everything = ",".join([bare, challenge, unproved]).encode()
    salted = hashlib.pbkdf2_hmac("sha256", PASSWORD, SALT, COUNT)
    client = digest(salted, b"Client Key")
    signature = digest(hashlib.sha256(client).digest(), everything)
    proof = base64.b64encode(bytes(a ^ b for a, b in zip(client, signature))).decode()
    if not first.startswith(header) or final != f"{unproved},p={proof}":
        say("-ERR no")
        return
    say("+ " + base64.b64encode(b"v=" + base64.b64encode(digest(digest(salted, b"Server Key"), everything))).decode())
    hear()
    say("+OK in")
    hear()
    say("+OK 1 2")
    hear()


context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
context.load_cert_chain(certificate, key)
listener = socket.create_server(("127.0.0.1", 0))
with open(told + ".new", "w") as file:
    file.write(f"port {listener.getsockname()[1]}\n")
os.rename(told + ".new", told)
while True:
    connection, _ = listener.accept()
    try:
        with context.wrap_socket(connection, server_side=True) as protected:
            talk(protected.makefile("rwb"))
    except (OSError, ValueError, IndexError):
        pass
