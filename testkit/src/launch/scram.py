"""A POP3 server over TLS with SCRAM-SHA-256-PLUS alone: PORT-FILE CERTIFICATE KEY CERTIFICATE-TO-BIND KINDS. Its own, because few
servers in Debian speak it. The fourth file is the certificate that it takes part in the proof: another one than its own makes it a
server with somebody in between. KINDS are the names of channels that it knows, with commas."""
import base64
import hashlib
import hmac
import os
import socket
import sys

from OpenSSL import SSL, crypto

port_file, certificate, key, bound, kinds = sys.argv[1:]
PASSWORD, SALT, COUNT = b"paIX", b"salt of this", 4096


def digest(key, text):
    return hmac.new(key, text, "sha256").digest()


def of_certificate(_):
    with open(bound, "rb") as file:
        der = crypto.dump_certificate(
            crypto.FILETYPE_ASN1, crypto.load_certificate(crypto.FILETYPE_PEM, file.read()))
    return hashlib.sha256(der).digest()


def exported(protected):
    return protected.export_keying_material(b"EXPORTER-Channel-Binding", 32, b"")


NAMES = {"tls-server-end-point": of_certificate, "tls-exporter": exported}


def talk(protected):
    received = b""

    def say(text):
        protected.sendall(text.encode() + b"\r\n")

    def hear():
        nonlocal received
        while b"\n" not in received:
            received += protected.recv(4096)
        line, received = received.split(b"\n", 1)
        return line.decode().rstrip("\r")

    say("+OK hi")
    hear()
    say("+OK\r\nSASL SCRAM-SHA-256 SCRAM-SHA-256-PLUS\r\n.")
    while True:
        if hear() != "AUTH SCRAM-SHA-256-PLUS":
            say("-ERR something else")
            return
        say("+ ")
        first = base64.b64decode(hear()).decode()
        kind = first[2:].split(",")[0]
        if first.startswith("p=") and kind in kinds.split(","):
            break
        say("-ERR no such channel")
    header, bare = f"p={kind},,", first[len(f"p={kind},,"):]
    nonce = bare.split(",r=")[1] + "more"
    challenge = f"r={nonce},s={base64.b64encode(SALT).decode()},i={COUNT}"
    say("+ " + base64.b64encode(challenge.encode()).decode())
    final = base64.b64decode(hear()).decode()
    channel = NAMES[kind](protected)
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
    say("+OK " + kind)
    hear()


context = SSL.Context(SSL.TLS_SERVER_METHOD)
context.use_certificate_chain_file(certificate)
context.use_privatekey_file(key)
listener = socket.create_server(("127.0.0.1", 0))
with open(port_file + ".new", "w") as file:
    file.write(f"port {listener.getsockname()[1]}\n")
os.rename(port_file + ".new", port_file)
while True:
    connection, _ = listener.accept()
    try:
        protected = SSL.Connection(context, connection)
        protected.set_accept_state()
        protected.do_handshake()
        talk(protected)
    except (OSError, ValueError, IndexError, SSL.Error):
        pass
    connection.close()
