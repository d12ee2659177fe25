"""Uploads over a slow link, in a network namespace of its own. A TUN device sends each packet back after a
delay, with its addresses exchanged, so one namespace has both ends of a real TCP connection.

usage: unshare -rn python3 delayed_upload.py ONE_WAY_MS SEND_BUFFER COMMAND ...
{url} in COMMAND is the address of a server that takes uploads."""

import collections
import fcntl
import os
import select
import socket
import struct
import subprocess
import sys
import threading
import time

NEAR, FAR, PORT = "10.9.0.1", "10.9.0.2", 8080
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 1, 0x1000


def device():
    """Opens the device, with a route for both ends."""
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", b"slow0", IFF_TUN | IFF_NO_PI))
    for words in ["link set lo up", f"addr add {NEAR}/24 dev slow0", "link set slow0 txqueuelen 10000 up"]:
        subprocess.run(["ip", *words.split()], check=True)
    return tun


def carry(tun, delay):
    """Delays packets. Exchanged addresses leave the checksums as they are."""
    line = collections.deque()
    while True:
        wait = max(0, line[0][0] - time.monotonic()) if line else None
        if select.select([tun], [], [], wait)[0]:
            packet = os.read(tun, 65536)
            if packet[0] >> 4 == 4:
                swapped = packet[:12] + packet[16:20] + packet[12:16] + packet[20:]
                line.append((time.monotonic() + delay, swapped))
        while line and line[0][0] <= time.monotonic():
            os.write(tun, line.popleft()[1])


def serve(listener):
    """Reads uploads as fast as they come."""
    while True:
        client = listener.accept()[0]
        data = b""
        while b"\r\n\r\n" not in data:
            data += client.recv(65536)
        head, body = data.split(b"\r\n\r\n", 1)
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        left = int(fields[b"content-length"]) - len(body)
        while left > 0:
            left -= len(client.recv(1 << 20))
        client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        client.close()


def limit(name, values):
    with open(f"/proc/sys/net/ipv4/{name}", "w") as file:
        file.write(values)


def main():
    delay, send_buffer, command = float(sys.argv[1]) / 1000, sys.argv[2], sys.argv[3:]
    tun = device()
    limit("tcp_wmem", f"4096 16384 {send_buffer}")
    limit("tcp_rmem", "4096 8388608 8388608")
    listener = socket.create_server((NEAR, PORT))
    threading.Thread(target=carry, args=(tun, delay), daemon=True).start()
    threading.Thread(target=serve, args=(listener,), daemon=True).start()
    url = f"http://{FAR}:{PORT}/"
    return subprocess.run([word.replace("{url}", url) for word in command]).returncode


sys.exit(main())
