"""Uploads that continue: on real servers, behind a relay that cuts each connection after 64 KiB."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
import warmwire
from conftest import Served
from patterns import pattern
from sites import Site, answer

PIECE = 64 << 10
CONTENT = pattern(4 * PIECE + 777)
PART = 8 << 20  # of an upload to S3
KINDS = ("vsftpd", "proftpd", "sftp", "tus", "ietf")


class Peer:
    """A server of uploads, and how they are sent to it."""

    def __init__(self, kind, piece, folder):
        self.server = Served("uploads", kind, *([str(piece)] if piece else []))
        self.kind, self.place = kind, self.server.rest[0]
        is_file = kind in ("vsftpd", "proftpd", "sftp")
        self.url = self.server.root + ("/f" if is_file or kind == "s3" else "/")
        self.file = folder / "f"
        self.content = CONTENT * (2 * PART // len(CONTENT) + 1) if kind == "s3" else CONTENT
        self.file.write_bytes(self.content)
        self.options = {"SSH_PRIVATE_KEYFILE": self.server.rest[1], "SSH_KNOWNHOSTS": ""} if kind == "sftp" else {}
        if kind == "s3":
            _, _, signature, _, login = self.server.rest
            self.options = {"AWS_SIGV4": signature, "USERPWD": login}
        self.how = {} if is_file else {"protocol": kind}
        # tusd takes no PUT, and the URL of the upload must not be cut off.
        if kind == "ietf":
            self.options["MAX_SEND_SPEED_LARGE"] = 1_000_000
            self.how["method"] = "POST"
        self.how.update(pause=0.01, resume=folder)

    def client(self, **options):
        return warmwire.Client(options={**self.options, **options})

    def upload(self, **how):
        return warmwire.upload(self.url, self.file, **{"client": self.client(), **self.how, **how})

    def stored(self):
        """The contents of all files at the server that are no notes of tusd."""
        names = [name for name in os.listdir(self.place) if "." not in name]
        found = []
        for name in names:
            with open(os.path.join(self.place, name), "rb") as file:
                found.append(file.read())
        return found

    def stores_content_once(self):
        found = self.stored()
        # By the draft there may be beginnings whose URL was lost with the connection.
        return found.count(self.content) == 1 and (self.kind == "ietf" or len(found) == 1)


@pytest.fixture
def peer_of(tmp_path):
    peers = []

    def start(kind, piece=PIECE):
        peers.append(Peer(kind, piece, tmp_path))
        return peers[-1]

    yield start
    for peer in peers:
        peer.server.stop()


@pytest.mark.parametrize("kind", KINDS)
def test_an_upload_that_is_cut_every_64_kib_is_whole(kind, peer_of, tmp_path):
    peer = peer_of(kind)
    seen = []
    done = peer.upload(attempts=60, on_progress=lambda sent, total: seen.append((sent, total)))
    assert peer.stores_content_once()
    assert (done.size, done.attempts > 3) == (len(CONTENT), True)
    assert done.sent >= len(CONTENT) and seen
    assert [path.name for path in tmp_path.iterdir()] == ["f"], "nothing is left of the upload"


def test_an_upload_to_s3_continues_with_the_missing_parts(peer_of, tmp_path):
    peer = peer_of("s3", None)
    # Ends in the second of three parts.
    slow = peer.client(MAX_SEND_SPEED_LARGE=3_000_000, TIMEOUT_MS=4000)
    with pytest.raises(warmwire.TimeoutException):
        peer.upload(client=slow, attempts=1)
    assert peer.stored() == [], "a part is no object"
    done = peer.upload(explain=True)
    assert peer.stores_content_once()
    assert (done.size, done.is_verified) == (len(peer.content), True)
    assert done.sent < len(peer.content) - PART + PIECE, "the missing parts and a few words"
    assert "upload-continues" in json.dumps(done.why.json())
    assert [path.name for path in tmp_path.iterdir()] == ["f"], "nothing is left of the upload"


@pytest.mark.parametrize("kind", KINDS)
def test_an_upload_continues_when_its_process_was_killed(kind, peer_of, tmp_path):
    peer = peer_of(kind, None)
    program = tmp_path / "program.py"
    how = {name: value for name, value in peer.how.items() if name != "resume"}
    program.write_text(
        "import warmwire\n"
        f"client = warmwire.Client(options={ {**peer.options, 'MAX_SEND_SPEED_LARGE': 100_000, 'UPLOAD_BUFFERSIZE': 16384}!r})\n"
        f"warmwire.upload({peer.url!r}, {os.fspath(peer.file)!r}, client=client, resume={os.fspath(tmp_path)!r}, **{how!r})\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    running = subprocess.Popen([sys.executable, program], env=environment)
    try:
        end = time.monotonic() + 30
        while not any(len(content) >= PIECE for content in peer.stored()):
            assert time.monotonic() < end and running.poll() is None
            time.sleep(0.01)
    finally:
        running.kill()
        running.wait()
    part = max(len(content) for content in peer.stored())
    assert part < len(CONTENT)
    done = peer.upload()
    assert peer.stores_content_once()
    assert done.sent <= len(CONTENT) - PIECE, "the rest alone"


@pytest.mark.parametrize(("kind", "wanted"), [("proftpd", True), ("vsftpd", False)])
def test_an_upload_is_verified_where_the_server_has_a_checksum(kind, wanted, peer_of):
    done = peer_of(kind, None).upload(explain=True)
    assert (done.is_verified, done.attempts, done.sent) == (wanted, 1, len(CONTENT))
    assert "STOR" in str(done.why) and done.why.json()["code"] == 0


def test_an_upload_runs_beside_other_tasks_and_can_be_cancelled(peer_of):
    peer = peer_of("tus", None)

    async def run():
        slow = peer.client(MAX_SEND_SPEED_LARGE=100_000, UPLOAD_BUFFERSIZE=16384)
        task = asyncio.create_task(warmwire.aupload(peer.url, peer.file, client=slow, **peer.how))
        while not any(len(content) >= PIECE for content in peer.stored()):
            assert not task.done()
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        for _ in range(100):
            try:
                return await warmwire.aupload(peer.url, peer.file, client=peer.client(), **peer.how)
            except warmwire.UploadError as error:  # the thread of the cancelled one still has the record
                assert "another process" in str(error)
                await asyncio.sleep(0.05)

    done = asyncio.run(run())
    assert peer.stores_content_once() and done.sent < len(CONTENT)


def test_a_signal_ends_an_upload(peer_of):
    peer = peer_of("vsftpd", None)
    slow = peer.client(MAX_SEND_SPEED_LARGE=20_000, UPLOAD_BUFFERSIZE=16384)
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        peer.upload(client=slow)
    assert time.monotonic() - begun < 5


def test_what_is_refused_or_wrong_raises(tmp_path):
    file = tmp_path / "f"
    file.write_bytes(b"content")
    site = Site(lambda handler: answer(handler, b"", 403))
    with pytest.raises(warmwire.RequestError) as caught:
        warmwire.upload(site.root, file, protocol="tus", resume=tmp_path, explain=True)
    assert (caught.value.code, caught.value.why.json()["requests"][0]["status"]) == (22, 403)
    policy = tmp_path / "policy"
    policy.write_text("version 1\n")
    with pytest.raises(warmwire.LoginError, match="refuses address 127.0.0.1"):
        warmwire.upload(site.root, file, protocol="tus", resume=False, client=warmwire.Client(access_policy=policy))
    for how, kind, text in (
        ({}, warmwire.OptionError, "protocol"),
        ({"protocol": "ftp"}, ValueError, "tus"),
        ({"protocol": "tus", "attempts": 0}, ValueError, "attempts"),
        ({"protocol": "tus", "pause": -1}, ValueError, "pause"),
        ({"protocol": "tus", "resume": tmp_path / "none"}, warmwire.WriteError, "none"),
    ):
        with pytest.raises(kind, match=text):
            warmwire.upload(site.root, file, **{"resume": False, **how})
    with pytest.raises(warmwire.RequestError, match="missing"):
        warmwire.upload(site.root, tmp_path / "missing", protocol="tus", resume=False)
    with pytest.raises(warmwire.RequestError):
        warmwire.upload("no url", file, protocol="tus", resume=False)
