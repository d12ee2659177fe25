"""HTTP/3 with aioquic: Retry, versions, new keys, and the loss of each of the first datagrams."""

import contextlib
import os

import pytest
from aioquic.quic.packet import QuicProtocolVersion

from quic_servers import H3Server, Relay

BODY = os.urandom(60_000)
LOST = range(12)


@pytest.fixture
def serve(tmp_path):
    with contextlib.ExitStack() as ends:

        def begin(**options):
            server = H3Server(tmp_path, BODY, **options)
            ends.callback(server.close)
            return server

        yield begin


@pytest.fixture
def get(tool):
    """A function that fetches from a port by HTTP/3 alone."""

    def run(server, *arguments, port=None, **named):
        url = f"https://localhost:{port or server.port}/body"
        return tool("--http3-only", "--cacert", server.certificate, *arguments, url, **named)

    return run


def test_retry(serve, get):
    server = serve(retry=True)
    ran = get(server)
    assert (ran.code, ran.out) == (0, BODY), ran
    # The token came back, so the server knows the identifier of before its Retry.
    assert server.connections[0]._retry_source_connection_id is not None


def test_a_server_without_our_version(serve, get):
    ran = get(serve(supported_versions=[0x1A2A3A4A]), seconds=20)
    assert ran.code not in (0, 28) and ran.out == b"", ran


def test_a_server_that_prefers_version_2(serve, get):
    versions = [QuicProtocolVersion.VERSION_2, QuicProtocolVersion.VERSION_1]
    ran = get(serve(supported_versions=versions))
    assert (ran.code, ran.out) == (0, BODY), ran


def test_new_keys(serve, get):
    server = serve(renews=True)
    ran = get(server, *["-o", "one", f"https://localhost:{server.port}/body", "-o", "two"])
    assert ran.code == 0, ran
    assert len(server.connections) == 1
    # One phase after two requests: each of them has turned it.
    assert server.phases == 2


@pytest.mark.parametrize("outward", [True, False], ids=["client", "server"])
@pytest.mark.parametrize("number", LOST)
def test_loss_of_one_datagram(serve, get, number, outward):
    server = serve()
    relay = Relay(server.port, lambda way, count: (way, count) == (outward, number))
    try:
        ran = get(server, port=relay.port)
    finally:
        relay.close()
    assert (ran.code, ran.out) == (0, BODY), ran
    assert relay.lost == [(outward, number)] or relay.counts[outward] <= number


@pytest.mark.parametrize("number", LOST)
def test_loss_during_an_upload(serve, get, tmp_path, number):
    server = serve()
    relay = Relay(server.port, lambda way, count: way and count in (number, number + 1))
    mine = tmp_path / "mine"
    mine.write_bytes(BODY)
    try:
        ran = get(server, "--data-binary", f"@{mine}", port=relay.port)
    finally:
        relay.close()
    assert (ran.code, ran.out) == (0, BODY), ran
    assert len(relay.lost) == 2


def test_a_server_that_nobody_hears(serve, get):
    server = serve()
    relay = Relay(server.port, lambda way, count: not way)
    try:
        ran = get(server, "--connect-timeout", "3", port=relay.port, seconds=20)
    finally:
        relay.close()
    assert ran.code in (7, 28) and relay.counts[False] > 0, ran
