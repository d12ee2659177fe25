"""Records beside those of vcrpy: what both recorders keep of the same exchanges with one server.

requests sends them for vcrpy, the tool for us. Method, URL, status, fields and both bodies must be equal.
"""

import http.server
import threading

import pytest
import requests
import vcr
import yaml

import conftest

BODY = bytes(range(256)) * 40
# Name, path, further arguments of the tool, body of a POST.
EXCHANGES = [
    ("length", "/length", [], None),
    ("chunked", "/chunks", [], None),
    ("no-body", "/empty", [], None),
    ("not-found", "/missing", [], None),
    ("redirect", "/moved", ["-L"], None),
    ("form", "/post", [], b"a=b&c=d"),
    ("binary-post", "/post", ["-H", "Content-Type: application/octet-stream"], BODY),
]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, body=b"", **fields):
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("X-Two", "a")
        self.send_header("X-Two", "b")
        if self.path == "/chunks":
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for at in range(0, len(body), 1000):
                piece = body[at : at + 1000]
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.write(b"0\r\n\r\n")
            return
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        match self.path:
            case "/moved":
                self.reply(302, Location="/length")
            case "/missing":
                self.reply(404, b"no such file")
            case "/empty":
                self.reply(204)
            case _:
                self.reply(200, BODY)

    def do_POST(self):
        self.reply(201, self.rfile.read(int(self.headers["Content-Length"])))


@pytest.fixture(scope="module")
def base():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def as_bytes(value):
    return value.encode() if isinstance(value, str) else value or b""


def fields(rows):
    """The fields without Date, which differs by the second."""
    return sorted((name.lower(), value) for name, value in rows if name.lower() != "date")


def theirs(interaction):
    """The facts of an exchange in a cassette of vcrpy."""
    request, response = interaction["request"], interaction["response"]
    rows = [(name, value) for name, values in response["headers"].items() for value in values]
    return {
        "method": request["method"],
        "url": request["uri"],
        "status": response["status"]["code"],
        "fields": fields(rows),
        "sent": as_bytes(request["body"]),
        "received": as_bytes(response["body"]["string"]),
    }


def ours(folder):
    """The same facts of an exchange in a record of ours."""

    def content(name):
        path = folder / name
        return path.read_bytes() if path.exists() else b""

    facts = dict(line.split(": ", 1) for line in content("exchange.txt").decode().splitlines())
    first, *lines = content("response.head").decode().split("\r\n")
    assert facts["End"] == "complete" and facts["Record-Complete"] == "yes"
    return {
        "method": facts["Method"],
        "url": facts["URL"],
        "status": int(first.split()[1]),
        "fields": fields(line.split(": ", 1) for line in lines if line),
        "sent": content("request.body"),
        "received": content("response.body"),
    }


@pytest.mark.parametrize(("name", "path", "arguments", "body"), EXCHANGES, ids=[row[0] for row in EXCHANGES])
def test_recorders_agree(base, tool, tmp_path, name, path, arguments, body):
    cassette = tmp_path / "cassette.yaml"
    with vcr.use_cassette(str(cassette), serializer="yaml"):
        if body is None:
            requests.get(base + path, timeout=60)
        else:
            requests.post(base + path, data=body, timeout=60)
    sent = []
    if body is not None:
        (tmp_path / "sent").write_bytes(body)
        sent = ["--data-binary", f"@{tmp_path / 'sent'}"]
    done = tool("--record", tmp_path / "record", "-o", tmp_path / "out", *arguments, *sent, base + path)
    assert done.code == 0, done
    interactions = yaml.load(cassette.read_text(), Loader=yaml.Loader)["interactions"]
    folders = sorted((tmp_path / "record").iterdir())
    assert [ours(folder) for folder in folders] == [theirs(interaction) for interaction in interactions]
    # And the tool's replay, which does not ask the server, brings what requests got.
    done = tool("--replay", tmp_path / "record", *arguments, *sent, base + path)
    assert done.out == theirs(interactions[-1])["received"], done


def test_a_record_is_plain_text(base, tool, tmp_path):
    """No file of a record has the secrets of the request, and vcrpy's cassette has all."""
    url = base.replace("http://", "http://someone:hidden-word@") + "/length"
    cassette = tmp_path / "cassette.yaml"
    with vcr.use_cassette(str(cassette), serializer="yaml"):
        requests.get(url, headers={"Cookie": "sid=hidden-cookie"}, timeout=60)
    done = tool("--record", tmp_path / "record", "-b", "sid=hidden-cookie", "-o", tmp_path / "out", url)
    assert done.code == 0, done
    assert "hidden-cookie" in cassette.read_text()
    files = [path for path in (tmp_path / "record").rglob("*") if path.is_file()]
    assert len(files) >= 3
    for path in files:
        content = path.read_bytes()
        assert b"hidden" not in content and b"c29tZW9uZTpoaWRkZW4td29yZA" not in content, path
