"""Metalinks and segments beside aria2 and wget2, on the same servers, damaged in the same ways.

A program may give up; it must not say with exit status 0 that a wrong file is right. What a reference
gets in spite of the damage, the tool must get, too.
"""

import hashlib
import http.server
import os
import pathlib
import shutil
import subprocess
import threading

import pytest

import conftest

FILE = os.urandom(1 << 20)
PIECE = 1 << 17


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves FILE with ranges; the first part of the path says what is wrong."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def do_HEAD(self):
        self.answer(False)

    def do_GET(self):
        self.answer(True)

    def wanted(self):
        """Returns the range of the request, whole without one."""
        words = self.headers.get("Range", "").removeprefix("bytes=").split("-")
        if len(words) != 2 or not words[0]:
            return 0, len(FILE) - 1, False
        return int(words[0]), min(int(words[1] or len(FILE) - 1), len(FILE) - 1), True

    def answer(self, sends):
        kind = self.path.split("/")[1]
        first, last, partial = self.wanted()
        if kind == "absent":
            return self.send_error(404)
        if kind == "broken":
            return self.send_error(503)
        if kind == "unranged":
            first, last, partial = 0, len(FILE) - 1, False
        body = FILE
        if kind == "flipped":
            body = FILE[:300_000] + bytes([FILE[300_000] ^ 1]) + FILE[300_001:]
        elif kind == "other":
            body = bytes(len(FILE))
        elif kind == "shorter":
            body = FILE[:-1000]
            last = min(last, len(body) - 1)
        body = body[first : last + 1]
        self.send_response(206 if partial else 200)
        if partial:
            total = len(FILE) - (1000 if kind == "shorter" else 0)
            self.send_header("Content-Range", f"bytes {first}-{last}/{total}")
        self.send_header("Accept-Ranges", "none" if kind == "unranged" else "bytes")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if not sends:
            return
        if kind == "cut":
            self.wfile.write(body[: len(body) // 2])
            self.wfile.flush()
            self.close_connection = True
            return
        self.wfile.write(body)


@pytest.fixture(scope="module")
def port():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.handle_error = lambda *arguments: None
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join(10)


def metalink(port, kinds, total=None, pieces=True):
    """A Metalink whose mirrors are of these kinds, the first with the highest priority."""
    digest = hashlib.sha256(FILE).hexdigest() if total is None else total
    parts = [FILE[at : at + PIECE] for at in range(0, len(FILE), PIECE)]
    hashes = "".join(f"<hash>{hashlib.sha256(part).hexdigest()}</hash>" for part in parts)
    pieced = f'<pieces length="{PIECE}" type="sha-256">{hashes}</pieces>' if pieces else ""
    urls = "".join(
        f'<url priority="{number + 1}">http://127.0.0.1:{port}/{kind}/file</url>' for number, kind in enumerate(kinds)
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="file">'
        f'<size>{len(FILE)}</size><hash type="sha-256">{digest}</hash>{pieced}{urls}</file></metalink>\n'
    )


def run(folder, command, seconds=90):
    folder.mkdir()
    done = subprocess.run(
        list(map(str, command)), cwd=folder, capture_output=True, timeout=seconds, env=conftest.clean_environment()
    )
    file = folder / "file"
    right = file.exists() and file.read_bytes() == FILE
    return done.returncode == 0, right, done


def by_warmwire(folder, document):
    return run(folder, [conftest.TOOL, "-q", "-sS", "--max-time", 60, "--segments", 4, "--metalink4", document])


@pytest.fixture(scope="module")
def program():
    """The example of the Rust crate that downloads a file."""
    built = conftest.target() / "judges/download"
    words = ["cargo", "build", "--quiet", "--locked", "-p", "warmwire", "--example", "download"]
    checkout = pathlib.Path(__file__).parents[2]
    subprocess.run([*words, "--target-dir", built], cwd=checkout, check=True, env=conftest.clean_environment())
    return built / "debug/examples/download"


def by_aria2(folder, document):
    common = ["--no-conf", "--quiet", "--split=4", "--min-split-size=1M", "--max-tries=2", "--retry-wait=1"]
    return run(folder, ["aria2c", *common, "--check-integrity=true", "--follow-metalink=mem", f"--metalink-file={document}"])


def by_wget2(folder, document):
    """Debian's wget2 waits forever after a mirror that fails: that is no file."""
    command = ["wget2", "--no-config", "-q", "--tries=2", "--metalink", "--input-file", document, "--force-metalink"]
    try:
        return run(folder, command, seconds=5)
    except subprocess.TimeoutExpired:
        return False, False, None


CASES = {
    "good": (["good"], {}),
    "two-good": (["good", "good"], {}),
    "first-absent": (["absent", "good"], {}),
    "first-broken": (["broken", "good"], {}),
    "first-cut": (["cut", "good"], {}),
    "first-flipped": (["flipped", "good"], {}),
    "first-other": (["other", "good"], {}),
    "first-shorter": (["shorter", "good"], {}),
    "first-unranged": (["unranged", "good"], {}),
    "last-flipped": (["good", "flipped"], {}),
    "all-bad-but-one": (["absent", "other", "cut", "flipped", "good"], {}),
    "only-flipped": (["flipped"], {}),
    "only-flipped-without-pieces": (["flipped"], {"pieces": False}),
    "only-other": (["other", "other"], {}),
    "only-absent": (["absent", "broken"], {}),
    "only-unranged": (["unranged"], {}),
    "wrong-total": (["good"], {"total": "0" * 64}),
}
# Where the tool gives up on purpose, or does less than a reference.
DIFFERS = {
    "wrong-total": "aria2 is content with right pieces; the tool checks the hash of the whole, too",
    "first-shorter": "a mirror of another length ends the transfer, where aria2 continues with the next one",
}


@pytest.mark.parametrize("name", CASES)
def test_metalinks(name, port, tmp_path):
    if not all(shutil.which(program) for program in ("aria2c", "wget2")):
        pytest.skip("left out: aria2 or wget2 is missing")
    kinds, options = CASES[name]
    document = tmp_path / "m.meta4"
    document.write_text(metalink(port, kinds, **options))
    well, right, done = by_warmwire(tmp_path / "ours", document)
    assert right or not well, f"a wrong file and exit status 0: {done}"
    others = {}
    for program, by in (("aria2", by_aria2), ("wget2", by_wget2)):
        said, had, _ = by(tmp_path / program, document)
        others[program] = said and had
    assert well or name in DIFFERS or not any(others.values()), f"{others}, ours: {done}"
    assert not (well and name in DIFFERS), "this works now: take it off the list"


@pytest.mark.parametrize("segments", [1, 2, 7, 16])
@pytest.mark.parametrize("kind", ["good", "unranged"])
def test_segments_of_one_url(kind, segments, port, tmp_path):
    url = f"http://127.0.0.1:{port}/{kind}/file"
    command = [conftest.TOOL, "-q", "-sS", "--max-time", 60, "--segments", segments, "-o", "file", url]
    well, right, done = run(tmp_path / "ours", command)
    assert well and right, done
    if shutil.which("aria2c"):
        words = ["aria2c", "--no-conf", "--quiet", f"--split={segments}", f"--max-connection-per-server={segments}", url]
        well, right, done = run(tmp_path / "aria2", words)
        assert well and right, done


# Where the crate, which knows no pieces of a Metalink, gives up and aria2 does not.
CRATE_DIFFERS = {
    "wrong-total": DIFFERS["wrong-total"],
    "first-shorter": DIFFERS["first-shorter"],
    "first-flipped": "without sums of pieces, a wrong byte is found at the end, and the file is removed",
    "last-flipped": "as first-flipped",
    "first-other": "as first-flipped",
    "all-bad-but-one": "as first-flipped",
}


@pytest.mark.parametrize("name", CASES)
def test_mirrors_of_the_crate(name, port, program, tmp_path):
    """The Rust crate's download with the sources of each Metalink and the sum of the whole file."""
    if not shutil.which("aria2c"):
        pytest.skip("left out: aria2 is missing")
    kinds, options = CASES[name]
    document = tmp_path / "m.meta4"
    document.write_text(metalink(port, kinds, **options))
    total = options.get("total", hashlib.sha256(FILE).hexdigest())
    first, *mirrors = [f"http://127.0.0.1:{port}/{kind}/file" for kind in kinds]
    well, right, done = run(tmp_path / "ours", [program, first, "file", f"sha256={total}", *mirrors])
    assert right or not well, f"a wrong file and exit status 0: {done}"
    assert (tmp_path / "ours/file").exists() == well, "a failure left a file"
    said, had, _ = by_aria2(tmp_path / "aria2", document)
    assert well or name in CRATE_DIFFERS or not (said and had), f"aria2 had it, ours: {done}"
