"""Input files and queues beside aria2, wget2 and curl --config: the same files, and the same requests.

An input file of aria2 is given unchanged to `--input-file`. DIFFERS lists where the tool differs on purpose.
"""

import hashlib
import http.server
import re
import shutil
import signal
import subprocess
import threading
import time

import pytest

import conftest

# Request fields that an entry can set.
FIELDS = ("X-One", "X-Two", "Referer", "User-Agent", "Cookie")
SLOW = bytes(range(256)) * 1000
DIGEST = hashlib.sha1(b"/sum").hexdigest()


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers with the path, and records requests."""

    protocol_version = "HTTP/1.1"
    requests = []

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        fields = {name: self.headers[name] for name in FIELDS if self.headers[name]}
        self.requests.append((self.path, fields))
        if self.path.startswith("/absent"):
            return self.send_error(404)
        if self.path.startswith("/slow"):
            return self.send_slowly(SLOW + self.path.encode())
        body = self.path.encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


    def send_slowly(self, body):
        """Sends a file, or its rest, so that a client can be interrupted within it."""
        first = int(self.headers.get("Range", "bytes=0-").removeprefix("bytes=").split("-")[0])
        self.send_response(206 if "Range" in self.headers else 200)
        if "Range" in self.headers:
            self.send_header("Content-Range", f"bytes {first}-{len(body) - 1}/{len(body)}")
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("ETag", f'"{self.path}"')
        self.send_header("Content-Length", str(len(body) - first))
        self.end_headers()
        try:
            for start in range(first, len(body), 20_000):
                self.wfile.write(body[start : min(start + 20_000, len(body))])
                time.sleep(0.01)
        except OSError:
            self.close_connection = True


@pytest.fixture(scope="module")
def url():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def run(folder, command, text):
    """Returns the exit status, the files and the requests of a program."""
    folder.mkdir()
    (folder / "list").write_bytes(text.encode())
    Handler.requests.clear()
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=60, env=conftest.clean_environment())
    files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    del files["list"]
    return done.returncode, files, sorted(Handler.requests, key=str), done.stderr.decode(errors="replace")


# Each program names itself unless an entry does.
AGENT = "judge"
ARIA2 = ["aria2c", "--no-conf", "--quiet", "--max-concurrent-downloads=1", "-U", AGENT, "--input-file=list"]
OURS = [conftest.TOOL, "-q", "-sS", "-f", "-A", AGENT, "--input-file", "list"]

# The forms that aria2c(1) describes under "Input File", with the options of an entry that have one meaning in both.
FORMS = {
    "urls": "@/a\n@/b\n@/c/d\n",
    "no-end-of-line": "@/a\n@/b",
    "windows-line-ends": "@/a\r\n  out=x\r\n@/b\r\n",
    "comments-and-blank-lines": "# one\n\n@/a\n\n#two\n  out=x\n   # three\n\n@/b\n#four\n",
    "tabs-and-blanks-before-options": "@/a\n\tout=x\n@/b\n out=y\n@/c\n    out=z\n",
    "blanks-around-equals": "@/a\n  out = x\n@/b\n  header = X-One: 1\n",
    "blanks-in-values": "@/a\n  out=with  two blanks \n@/b\n  header=X-One: a  b c\n",
    "equals-in-values": "@/a\n  out=a=b\n@/b\n  header=X-One: c=d\n",
    "hash-in-values": "@/a\n  out=a#b\n@/b\n  header=X-One: c # d\n",
    "folders": "@/a\n  dir=one/two\n@/b\n  dir=one\n  out=three/x\n@/c\n  out=four/y\n",
    "last-option-wins": "@/a\n  out=x\n  out=y\n  dir=d\n  dir=e\n",
    "headers-add-up": "@/a\n  header=X-One: 1\n  header=X-Two: 2\n@/b\n  header=X-Two: 3\n",
    "options-are-for-one-entry": "@/a\n  header=X-One: 1\n  referer=http://r/\n  user-agent=u\n  dir=d\n@/b\n",
    "same-url-twice": "@/a\n  out=x\n@/a\n  out=y\n",
    "query": "@/a?b=c&d={1,2}[3-4]\n  out=x\n",
    "globs-are-literal": "@/a{1,2}\n@/b[1-3]\n",
    "percent-encoding": "@/a%20b%2Fc\n  out=x\n",
    "checksum": f"@/sum\n  checksum=sha-1={DIGEST}\n",
    "wrong-checksum": f"@/a\n  checksum=sha-1={DIGEST}\n@/b\n",
    "session-identifier": "@/a\n gid=d4d8f1a2b3c4d5e6\n out=x\n",
    "switches": "@/a\n remote-time=true\n check-certificate=false\n connect-timeout=30\n max-download-limit=1M\n",
    "one-fails": "@/absent\n@/a\n",
    "utf-8": "@/a\n  out=übermäßig\n  header=X-One: grün\n",
}
# Where the tool differs on purpose: it refuses, and says the line, what aria2 passes over in silence.
REFUSED = {
    "unknown-option": ("@/a\n  nonsense=1\n", "list:2: option 'nonsense' is unknown"),
    "option-without-url": ("  out=x\n@/a\n", "list:1: an option without a URL above it"),
    "global-option": ("@/a\n  silent=true\n", "list:2: option 'silent' is for the whole command line"),
}


@pytest.fixture(autouse=True)
def programs():
    if not all(shutil.which(program) for program in ("aria2c", "wget2", "curl")):
        pytest.skip("left out: aria2, wget2 or curl is missing")


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("name", FORMS)
def test_forms_of_aria2(name, parallel, url, tmp_path):
    text = FORMS[name].replace("@", url)
    ours = run(tmp_path / "ours", OURS + ["-Z"] * parallel, text)
    aria2 = run(tmp_path / "aria2", ARIA2, text)
    kept = aria2[1]
    if name == "wrong-checksum":
        # aria2 keeps a file that is wrong, and its state; the tool removes it.
        assert kept.pop("a") == b"/a" and kept.pop("a.aria2")
    assert ours[1] == kept, (ours, aria2)
    assert ours[2] == aria2[2], (ours, aria2)
    # One after the other, the last transfer decides about the exit status, as with curl.
    if parallel or name not in ("one-fails", "wrong-checksum"):
        assert (ours[0] == 0) == (aria2[0] == 0), (ours, aria2)


@pytest.mark.parametrize("name", REFUSED)
def test_mistakes_are_refused_with_their_line(name, url, tmp_path):
    text, why = REFUSED[name]
    code, files, requests, stderr = run(tmp_path / "ours", OURS, text.replace("@", url))
    assert code == 2 and not files and not requests, stderr
    assert why in re.sub(r"\ncurl: ", "", stderr)
    assert run(tmp_path / "aria2", ARIA2, text.replace("@", url))[2], "aria2 refuses it, too: no difference"


def test_session_of_aria2(url, tmp_path):
    """What aria2 could not fetch, it saves; that session is an input file."""
    folder = tmp_path / "aria2"
    text = "@/absent\n  out=x\n  header=X-One: 1\n  dir=d\n@/a\n".replace("@", url)
    command = [*ARIA2, "--save-session=session", "--save-session-interval=1"]
    _, files, _, _ = run(folder, command, text)
    session = files["session"].decode()
    assert f"{url}/absent" in session and "/a\n" not in session, session
    # The server has the file now.
    session = session.replace("/absent", "/now-there")
    aria2 = run(tmp_path / "aria2-again", ARIA2, session)
    ours = run(tmp_path / "ours", OURS, session)
    assert ours[0] == aria2[0] == 0 and ours[1:3] == aria2[1:3], (ours, aria2)
    assert [path for path, _ in ours[2]] == ["/now-there"]


def interrupted(folder, command, seconds):
    """Interrupts a program after some time, as Ctrl-C does."""
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL, env=conftest.clean_environment())
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    process.wait(60)


def test_interrupted_sessions(url, tmp_path):
    """What an interrupted run leaves: aria2's session and the tool's queue lead to the same files."""
    text = "".join(f"{url}/slow-{number}\n  out=file-{number}\n  header=X-One: {number}\n" for number in range(8))
    wanted = {f"file-{number}": SLOW + f"/slow-{number}".encode() for number in range(8)}
    session = ["--save-session=session", "--continue=true"]
    resumed = ["aria2c", "--no-conf", "--quiet", "-U", AGENT, "--input-file=session", "--continue=true"]
    queue = [conftest.TOOL, "-q", "-sS", "-f", "--queue", "queue"]
    for name, begin, go_on in (
        ("aria2", [*ARIA2, *session], [*resumed, "--save-session=session"]),
        ("ours", [*queue, "-A", AGENT, "--input-file", "list"], queue),
    ):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "list").write_text(text)
        Handler.requests.clear()
        interrupted(folder, begin, 0.5)
        assert any((folder / one).exists() for one in wanted), name
        interrupted(folder, go_on, 0.4)
        done = subprocess.run(go_on, cwd=folder, capture_output=True, timeout=60, env=conftest.clean_environment())
        assert done.returncode == 0, (name, done)
        found = {path.name: path.read_bytes() for path in folder.glob("file-*")}
        assert found == wanted, name
        fields = {path: fields.get("X-One") for path, fields in Handler.requests}
        assert fields == {f"/slow-{number}": str(number) for number in range(8)}, name
        repeated = len(Handler.requests) - len(wanted)
        assert repeated <= 2 + (name == "aria2") * 8, f"{name} has repeated {repeated} requests"


@pytest.mark.parametrize("count", [1, 40])
def test_plain_lists_of_wget2_and_curl(count, url, tmp_path):
    text = "".join(f"{url}/file-{number}\n" for number in range(count))
    ours = run(tmp_path / "ours", OURS, text)
    assert len(ours[1]) == count and ours[0] == 0, ours
    wget2 = ["wget2", "--no-config", "-q", "-U", AGENT, "--max-threads=1", "--no-robots", "-i", "list"]
    assert run(tmp_path / "wget2", wget2, text)[:3] == ours[:3]
    options = f'remote-name\nheader = "X-One: 1"\nuser-agent = "{AGENT}"\n'
    config = "next\n".join(f'url = "{line}"\n{options}' for line in text.split())
    theirs = run(tmp_path / "curl", ["curl", "-q", "-sS", "-K", "list"], config)
    listed = text.replace("\n", "\n  header = X-One: 1\n")
    assert run(tmp_path / "with-options", OURS, listed)[:3] == theirs[:3]
