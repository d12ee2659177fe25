"""An FTP server for one transfer in active mode, whose data connection comes from the address that is named. It prints its port."""

import re
import socket
import sys

listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
control, _ = listener.accept()
lines = control.makefile("rwb", buffering=0)
lines.write(b"220 hello\r\n")
there = None
replies = {"USER": "331 password", "PASS": "230 in", "PWD": '257 "/"', "CWD": "250 there", "TYPE": "200 type", "SIZE": "213 7"}
for line in lines:
    word, _, rest = line.decode().strip().partition(" ")
    if word == "EPRT":
        there = ("127.0.0.1", int(rest.split(rest[0])[3]))
    elif word == "PORT":
        numbers = [int(number) for number in re.findall("[0-9]+", rest)]
        there = ("127.0.0.1", numbers[4] * 256 + numbers[5])
    elif word in ("RETR", "STOR"):
        lines.write(b"150 data\r\n")
        try:
            with socket.create_connection(there, source_address=(sys.argv[1], 0)) as data:
                if word == "RETR":
                    data.sendall(b"content")
                    data.shutdown(socket.SHUT_WR)
                received = data.recv(100)
        except OSError:
            received = b""
        print(f"{word} received {len(received)}", flush=True)
        lines.write(b"226 done\r\n")
        continue
    lines.write(("200 ok" if word in ("EPRT", "PORT") else replies.get(word, "500 what")).encode() + b"\r\n")
    if word == "QUIT":
        break
