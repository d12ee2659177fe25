"""The facts of --why=json beside what curl says of the same transfers, and what nginx logs of both.

JUDGE_CURL names the curl that judges; without it, the one in PATH. Facts that both clients choose alike (new
or open connections, resumed handshakes, addresses, versions of HTTP, redirects) must be equal. Those that a
client chooses (version of TLS and cipher) must be what the server logged of that client.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import time

import pytest

import conftest

CURL = os.environ.get("JUDGE_CURL") or shutil.which("curl")
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")

CONFIGURATION = """
daemon off; worker_processes 1; pid {place}/pid; error_log {place}/error.log;
events {{ worker_connections 100; }}
http {{
  log_format facts '$connection|$ssl_protocol|$ssl_cipher|$ssl_session_reused|$server_protocol|$status|$request_uri';
  access_log {place}/facts facts; keepalive_timeout 60s; default_type text/plain;
  client_body_temp_path {place}/a; proxy_temp_path {place}/b; fastcgi_temp_path {place}/c;
  uwsgi_temp_path {place}/d; scgi_temp_path {place}/e;
  server {{
    listen 127.0.0.1:{plain};
    listen 127.0.0.1:{secure} ssl http2;
    ssl_certificate {place}/cert.pem; ssl_certificate_key {place}/key.pem;
    ssl_protocols TLSv1.2 TLSv1.3; ssl_session_cache shared:facts:1m;
    location /close {{ keepalive_timeout 0; return 200 "close"; }}
    location /hop/ {{ return 302 /hops; }}
    location /hops {{ return 301 /end; }}
    location /secure {{ return 302 https://localhost:{secure}/end; }}
    location / {{ return 200 "text"; }}
  }}
}}
"""

# Name, arguments, paths: a path with `s:` is for TLS, one with `p:` for plain text.
RUNS = [
    ("plain", [], ["p:/", "p:/other"]),
    ("http11", ["--http1.1"], ["s:/", "s:/other"]),
    ("http2", [], ["s:/", "s:/other", "s:/third"]),
    ("http10", ["--http1.0"], ["p:/", "p:/"]),
    ("closed", ["--http1.1"], ["s:/close", "s:/close", "s:/close"]),
    ("closed-tls12", ["--http1.1", "--tls-max", "1.2"], ["s:/close", "s:/close"]),
    ("no-session", ["--http1.1", "--no-sessionid"], ["s:/close", "s:/close"]),
    ("tls12", ["--tls-max", "1.2"], ["s:/", "s:/other"]),
    ("redirects", ["-L"], ["s:/hop/", "s:/end"]),
    ("to-tls", ["-L"], ["p:/secure", "p:/"]),
    ("two-addresses", ["--resolve", "localhost:{secure}:[::1],127.0.0.1"], ["s:/", "s:/other"]),
    ("another-host", [], ["s:/", "n:/", "s:/"]),
]


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Server:
    """nginx, and the lines that it logged of each request."""

    def __init__(self, place):
        self.place = place
        self.plain, self.secure = free_port(), free_port()
        subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
        pair = ["-keyout", place / "key.pem", "-out", place / "cert.pem"]
        make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "90", *pair, *subject]
        subprocess.run(make, check=True, capture_output=True)
        text = CONFIGURATION.format(place=place, plain=self.plain, secure=self.secure)
        (place / "nginx.conf").write_text(text)
        (place / "facts").touch()
        self.process = subprocess.Popen(
            [NGINX, "-c", place / "nginx.conf", "-e", place / "error.log"], stderr=subprocess.DEVNULL
        )
        end = time.monotonic() + 20
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.secure), 1).close()
                return
            except OSError:
                assert time.monotonic() < end and self.process.poll() is None, (place / "error.log").read_text()
                time.sleep(0.01)

    def urls(self, paths):
        bases = {
            "p:": f"http://localhost:{self.plain}",
            "s:": f"https://localhost:{self.secure}",
            "n:": f"https://127.0.0.1:{self.secure}",
        }
        return [bases[path[:2]] + path[2:] for path in paths]

    def logged(self, before, count):
        """Returns the lines after the first `before`, when there are that many."""
        end = time.monotonic() + 20
        while True:
            lines = (self.place / "facts").read_text().splitlines()[before:]
            if len(lines) >= count:
                return [line.split("|") for line in lines]
            assert time.monotonic() < end, f"{count} requests are expected: {lines}"
            time.sleep(0.01)

    def seen(self):
        return len((self.place / "facts").read_text().splitlines())


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    if not NGINX or not CURL:
        pytest.skip("nginx or curl is not installed")
    one = Server(tmp_path_factory.mktemp("nginx"))
    yield one
    one.process.terminate()
    one.process.wait()


def of_log(lines):
    """What the server says of each request: new connection, TLS, resumed handshake, version, path."""
    facts, known = [], set()
    for connection, protocol, cipher, resumed, version, status, path in lines:
        new = connection not in known
        known.add(connection)
        tls = (protocol, cipher, resumed == "r") if new and protocol != "-" else None
        # The log has the version of the request; nginx answers HTTP/1.0 by HTTP/1.1.
        version = {"HTTP/1.0": "HTTP/1.1"}.get(version, version)
        facts.append({"new": new, "tls": tls, "http": version, "status": int(status), "path": path})
    return facts


def of_why(text):
    """What --why says of each request, the addresses of each new connection, and all redirects."""
    requests, addresses, redirects = [], [], []
    for line in text.splitlines():
        for request in json.loads(line)["requests"]:
            events = {event["event"]: event for event in request["events"]}
            assert ("connection-new" in events) != ("connection-reused" in events), request
            tls = events.get("tls")
            tls = tls and (tls["version"], tls["cipher"], tls["resumed"])
            version = {"HTTP/2": "HTTP/2.0"}.get(request["http"], request["http"])
            path = "/" + request["url"].split("/", 3)[3]
            new = "connection-new" in events
            requests.append({"new": new, "tls": tls, "http": version, "status": request["status"], "path": path})
            tried = [e["address"] for e in request["events"] if e["event"] == "address-tried"]
            if new:
                addresses.append((tried, events["address-connected"]["preferred"]))
            redirects += [e["to"] for e in request["events"] if e["event"] == "redirect"]
    return requests, addresses, redirects


def of_verbose(text):
    """What curl's -v says: addresses, redirects, versions of TLS with their ciphers."""
    addresses, tried = [], []
    for address in re.findall(r"^\* (?:  Trying (\S+?)\.\.\.|Established connection|Connected to)", text, re.M):
        if address:
            tried.append(address)
        else:
            addresses.append(tried)
            tried = []
    redirects = re.findall(r"Issue another request to this URL: '([^']*)'", text)
    tls = re.findall(r"SSL connection using (\S+) / (\S+)", text)
    return addresses, redirects, tls


def iana(cipher):
    """Returns the name in the registry of a cipher that OpenSSL and nginx name their own way."""
    named = {
        "ECDHE-RSA-AES128-GCM-SHA256": "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
        "ECDHE-RSA-AES256-GCM-SHA384": "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
        "ECDHE-RSA-CHACHA20-POLY1305": "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
    }
    return named.get(cipher, cipher)


def with_iana(facts):
    return [
        fact | {"tls": fact["tls"] and (fact["tls"][0], iana(fact["tls"][1]), fact["tls"][2])} for fact in facts
    ]


def alike(facts):
    """The facts that two clients choose alike."""
    return [fact | {"tls": fact["tls"] and fact["tls"][2]} for fact in facts]


@pytest.mark.parametrize("name,arguments,paths", RUNS, ids=[run[0] for run in RUNS])
def test_why_says_what_curl_and_the_server_say(server, tool, name, arguments, paths):
    urls = server.urls(paths)
    arguments = [word.format(secure=server.secure) for word in arguments]
    outputs = ["-o", os.devnull] * len(urls)
    common = ["-k", *arguments, *outputs, *urls]

    before = server.seen()
    ran = tool("--why=json", *common)
    assert ran.code == 0, ran
    requests, addresses, redirects = of_why(ran.err)
    ours = with_iana(of_log(server.logged(before, len(requests))))
    assert with_iana(requests) == ours, "the record is what the server logged"

    before = server.seen()
    judge = [CURL, "-q", "-s", "-v", "-w", "%{num_connects} %{http_version} %{num_redirects}\n", *common]
    done = subprocess.run(judge, capture_output=True, env=conftest.clean_environment(), timeout=60)
    verbose = done.stderr.decode(errors="replace")
    assert done.returncode == 0, verbose
    theirs = of_log(server.logged(before, len(requests)))
    tried, hops, tls = of_verbose(verbose)
    written = [line.split() for line in done.stdout.decode().splitlines()]
    assert len(written) == len(urls)

    assert alike(requests) == alike(theirs), "curl made the transfers alike"
    assert {fact["http"] for fact in requests} == {"HTTP/" + {"2": "2.0"}.get(line[1], line[1]) for line in written}
    assert sum(fact["new"] for fact in requests) == sum(int(line[0]) for line in written)
    assert len(redirects) == sum(int(line[2]) for line in written)
    assert redirects == hops
    # curl begins with the same address each time; the tool begins with the one that has won before.
    assert [theirs[-1:] if ours[1] else theirs for ours, theirs in zip(addresses, tried, strict=True)] == [
        ours[0] for ours in addresses
    ]
    in_log = [(fact["tls"][0], fact["tls"][1]) for fact in theirs if fact["tls"]]
    assert tls == in_log, "curl's words are what the server logged of curl"
