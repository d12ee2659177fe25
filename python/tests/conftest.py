"""Servers for the tests: testkit's own, each for one session."""

import os
import re
import signal
import subprocess
import sys
import tempfile

import pytest
from sites import Site, folder

# A shell's background job ignores it, and Python with it; some tests press Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Packages that `make test` does without: a test that imports one is left out by name.
with open(os.path.join(os.path.dirname(__file__), "requirements.txt"), encoding="ascii") as required:
    ENGINES = {re.split(r"\W", line)[0] for line in required if line.strip()} - {"maturin"} | {"numpy"}


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Reports a test or a fixture that imports an engine which is not installed as a test that was left out."""
    outcome = yield
    if call.excinfo and isinstance(call.excinfo.value, ModuleNotFoundError):
        name = (call.excinfo.value.name or "").split(".")[0]
        if name in ENGINES:
            report = outcome.get_result()
            report.outcome = "skipped"
            report.longrepr = (str(item.path), item.location[1] + 1, f"Skipped: is missing: {name}")


class Served:
    """A server of testkit's; it ends with its standard input."""

    def __init__(self, *words):
        program = os.environ["WARMWIRE_SERVE"]
        errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [program, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
        )
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            errors.seek(0)
            text = errors.read().strip()
            if " is missing: " in text:
                pytest.skip(text)
            raise RuntimeError(f"testkit-serve {' '.join(words)}: {text}")
        first, *rest = line.split()
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


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    """A certificate of 127.0.0.1 that vouches for itself, with its key; alone it is in the file of that name with .crt."""
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    words = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=here -addext subjectAltName=IP:127.0.0.1"
    made = subprocess.run([*words.split(), "-keyout", path, "-out", f"{path}.crt"], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    with open(path, "a", encoding="ascii") as both, open(f"{path}.crt", encoding="ascii") as certificate:
        both.write(certificate.read())
    return path


@pytest.fixture
def counters(http):
    """accepts, open and served of the server, asked on a connection of its own."""
    import warmwire

    def ask():
        reply = warmwire.get(http.url("/stats"), pool=warmwire.Pool())
        return {name: int(number) for name, number in (word.split("=") for word in reply.text.split())}

    return ask


@pytest.fixture(scope="session")
def mypy(tmp_path_factory):
    """Runs mypy strictly in a folder. Returns its exit status and its report."""
    pytest.importorskip("mypy", reason="is missing: mypy")
    cache = tmp_path_factory.mktemp("mypy")

    def run(folder, *words):
        command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", cache, *words]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=300, check=False)
        return done.returncode, done.stdout + done.stderr

    return run


@pytest.fixture
def check_program(mypy, tmp_path):
    """Checks the types of a program, given as text."""

    def check(program):
        (tmp_path / "program.py").write_text(program)
        return mypy(tmp_path, "program.py")

    return check


@pytest.fixture(scope="session")
def table(tmp_path_factory):
    """A web server with a folder of Parquet: a thousand rows in each of three files."""
    import pandas

    path = tmp_path_factory.mktemp("parquet")
    for part in range(3):
        frame = pandas.DataFrame({"n": range(part * 1000, part * 1000 + 1000), "text": [f"row {n}" for n in range(1000)]})
        frame.to_parquet(path / f"part-{part}.parquet", row_group_size=100)
    return Site(folder(path))
