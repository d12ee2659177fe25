"""Servers for the tests: testkit's own, each for one session."""

import os
import signal
import subprocess

import pytest

# A shell's background job ignores it, and Python with it; some tests press Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)


class Served:
    """A server of testkit's; it ends with its standard input."""

    def __init__(self, *words):
        program = os.environ["WARMWIRE_SERVE"]
        self.process = subprocess.Popen(
            [program, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        first, *rest = self.process.stdout.readline().split()
        self.root, self.rest = first.rstrip("/"), rest

    def url(self, path):
        return self.root + path

    def stop(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(20)


@pytest.fixture(scope="session")
def http():
    server = Served("http")
    yield server
    server.stop()


@pytest.fixture(scope="session")
def https():
    server = Served("https")
    server.ca = server.rest[-1]
    yield server
    server.stop()


@pytest.fixture
def counters(http):
    """accepts, open and served of the server, asked on a connection of its own."""
    import warmwire

    def ask():
        reply = warmwire.get(http.url("/stats"), pool=warmwire.Pool())
        return {name: int(number) for name, number in (word.split("=") for word in reply.text.split())}

    return ask
