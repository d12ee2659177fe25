"""Servers that stop, lie and reset, and full disks: the right exceptions, and nothing of them is left."""

import contextlib
import gc
import os
import socket
import struct
import threading

import pytest
import warmwire
from warmwire.filesystem import WarmwireFileSystem


class Odd:
    """A server that does one thing with each connection."""

    def __init__(self, treat):
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.root = "http://127.0.0.1:{}".format(self._socket.getsockname()[1])
        self._treat = treat
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            peer, _ = self._socket.accept()
            with peer:
                with contextlib.suppress(OSError):
                    peer.recv(65536)
                    self._treat(peer)


def reset(peer):
    peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + bytes(5000))
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def stop(peer):
    peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + bytes(5000))
    peer.recv(1)


def lie(peer):
    peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 10\r\n\r\n0123456789")


def babble(peer):
    peer.sendall(b"220 this is no web server\r\n")


def end(peer):
    pass


FAULTS = {
    "reset": (reset, warmwire.RequestError),
    "stop": (stop, warmwire.TimeoutException),
    "lie": (lie, warmwire.DecodingError),
    "babble": (babble, warmwire.RequestError),
    "end": (end, warmwire.RequestError),
}


def held():
    """Descriptors, and resident KiB."""
    gc.collect()
    with open("/proc/self/status", encoding="ascii") as status:
        resident = next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
    return len(os.listdir("/proc/self/fd")), resident


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_leaves_nothing(fault):
    treat, kind = FAULTS[fault]
    odd, pool = Odd(treat), warmwire.Pool()
    client = warmwire.Client(pool=pool, timeout=warmwire.Timeout(total=0.1 if fault == "stop" else 20))
    files = WarmwireFileSystem(client={"pool": pool, "timeout": client.timeout}, skip_instance_cache=True)
    rounds = 2 if fault == "stop" else 10

    def once():
        with pytest.raises(kind):
            client.get(odd.root)
        with pytest.raises(kind), client.stream("GET", odd.root) as reply:
            reply.read()
        found = list(warmwire.fetch_many([odd.root] * 3, client=client, retries=0))
        assert [isinstance(one.error, kind) for one in found] == [True] * 3
        (batch,) = warmwire.fetch_batches([odd.root] * 3, client=client, retries=0)
        assert batch.column("error").null_count == 0 and batch.column("body").null_count == 3
        with pytest.raises((kind, OSError)):
            files.cat_file(odd.root)

    for _ in range(rounds):
        once()
    descriptors, resident = held()
    for _ in range(rounds):
        once()
    after = held()
    assert after[0] <= descriptors
    assert after[1] < resident + 16 * 1024


def test_a_full_disk_in_each_call(http, tmp_path):
    url = http.url("/bytes/3000000")
    files = WarmwireFileSystem()
    (found,) = warmwire.fetch_many([url], to=lambda _: "/dev/full", retries=0)
    assert isinstance(found.error, warmwire.WriteError)
    (batch,) = warmwire.fetch_batches([url], to=lambda _: "/dev/full", retries=0)
    assert batch.column("code").to_pylist() == [23] and "space" in batch.column("error")[0].as_py()
    with open("/dev/full", "wb", buffering=0) as full, pytest.raises(OSError, match="space"):
        files.get_file(url, full)
    with pytest.raises(OSError):
        files.get_file(url, tmp_path / ("n" * 300))


def test_what_was_fetched_is_not_kept(http):
    """Files of 2 MB, 16 at a time: what is resident does not grow with how many there were."""
    urls = [http.url("/bytes/2000000")] * 16
    assert all(len(one.content) == 2_000_000 for one in warmwire.fetch_many(urls))
    _, resident = held()
    for _ in range(3):
        assert all(len(one.content) == 2_000_000 for one in warmwire.fetch_many(urls))
    assert held()[1] < resident + 48 * 1024
