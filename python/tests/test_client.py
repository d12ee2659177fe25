"""Client: what goes out, what comes back, how it fails."""

import asyncio
import gc
import io
import os
import pickle
import re
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from hashlib import sha256

import pytest
import warmwire
from patterns import pattern
from sites import NameServer, Site, answer, tunnel


def descriptors():
    return len(os.listdir("/proc/self/fd"))


def test_a_reply_has_status_headers_and_body(http):
    reply = warmwire.get(http.url("/bytes/1000"))
    assert (reply.status_code, reply.reason_phrase, reply.http_version) == (200, "OK", "HTTP/1.1")
    assert reply.content == pattern(1000)
    assert reply.headers["CONTENT-length"] == "1000"
    assert reply.headers.get_list("accept-ranges") == ["bytes"]
    assert reply.is_success and reply.ok and not reply.is_error
    assert reply.elapsed.total_seconds() > 0
    assert reply.peer[0] == "127.0.0.1"


def test_a_reply_has_its_reasons_if_they_are_asked_for(http):
    with warmwire.Client(pool=warmwire.Pool()) as client:
        assert client.get(http.url("/bytes/1")).why is None
        why = client.get(http.url("/bytes/1"), explain=True).why
        assert " reused: " in str(why)
        events = why.json()["requests"][0]["events"]
        assert [event["event"] for event in events] == ["connection-reused"]


def test_one_connection_serves_all_in_turn(http, counters):
    with warmwire.Client(pool=warmwire.Pool()) as client:
        before = counters()["accepts"]
        made = [client.get(http.url("/bytes/1")).new_connections for _ in range(5)]
        assert made == [1, 0, 0, 0, 0]
        assert counters()["accepts"] == before + 2  # and the one that asks


def test_params_and_headers_go_out(http):
    client = warmwire.Client(headers={"X-All": "yes", "X-Over": "client"}, params={"all": "1"})
    reply = client.get(http.url("/echo?x=y"), params={"a": ["1", "2"], "b": "ü", "none": None}, headers={"x-over": "mine"})
    head = reply.text.split("\r\n")
    assert head[0] == "GET /echo?x=y&all=1&a=1&a=2&b=%C3%BC HTTP/1.1"
    assert "X-All: yes" in head and "x-over: mine" in head and "X-Over: client" not in head
    assert any(line.startswith("User-Agent: warmwire/") for line in head)


def test_json_data_and_content(http):
    reply = warmwire.post(http.url("/echo"), json={"a": [1, "ü"]})
    head, body = reply.content.split(b"\r\n\r\n", 1)
    assert b"Content-Type: application/json" in head and body == b'{"a":[1,"\\u00fc"]}'
    reply = warmwire.post(http.url("/echo"), data={"a": "b c", "d": ["1", "2"]})
    head, body = reply.content.split(b"\r\n\r\n", 1)
    assert b"Content-Type: application/x-www-form-urlencoded" in head and body == b"a=b+c&d=1&d=2"
    reply = warmwire.put(http.url("/echo"), content=b"\0raw")
    head, body = reply.content.split(b"\r\n\r\n", 1)
    assert head.startswith(b"PUT ") and b"Content-Type" not in head and body == b"\0raw"
    reply = warmwire.post(http.url("/echo"))
    assert reply.text.startswith("POST ") and "Content-Length: 0" in reply.text
    assert warmwire.post(http.url("/body"), json={"back": True}).json() == {"back": True}


@pytest.mark.parametrize("method", ["delete", "patch", "options"])
def test_other_methods(http, method):
    assert getattr(warmwire, method)(http.url("/echo")).text.startswith(method.upper() + " ")


def test_head_has_no_body(http):
    reply = warmwire.head(http.url("/bytes/77"))
    assert (reply.status_code, reply.content, reply.headers["content-length"]) == (200, b"", "77")


def test_files_of_a_form(http, tmp_path):
    path = tmp_path / "on-disk.bin"
    path.write_bytes(b"\0" * 70_000 + b"end")
    with open(path, "rb") as file:
        reply = warmwire.post(
            http.url("/echo"),
            data={"field": "value"},
            files={"disk": file, "memory": ("name.txt", b"some", "text/plain"), "text": io.StringIO("letters")},
        )
    body = reply.content
    assert b'name="field"\r\n\r\nvalue\r\n' in body
    assert b'name="disk"; filename="on-disk.bin"' in body and b"\0" * 70_000 + b"end\r\n" in body
    assert b'name="memory"; filename="name.txt"\r\nContent-Type: text/plain\r\n\r\nsome\r\n' in body
    assert b"\r\n\r\nletters\r\n" in body


def test_bodies_from_iterators_and_files_are_sent_as_they_come(http):
    given = (bytes([letter]) * 100_000 for letter in b"abc")
    reply = warmwire.post(http.url("/echo"), content=given)
    head, body = reply.content.split(b"\r\n\r\n", 1)
    assert b"Transfer-Encoding: chunked" in head and head.startswith(b"POST ")
    assert body == b"a" * 100_000 + b"b" * 100_000 + b"c" * 100_000
    reply = warmwire.put(http.url("/body"), content=io.BytesIO(b"x" * 300_000))
    assert reply.content == b"x" * 300_000
    reply = warmwire.post(http.url("/echo"), content=iter([b"four"]), headers={"Content-Length": "4"})
    assert b"Content-Length: 4\r\n" in reply.content and reply.content.endswith(b"\r\n\r\nfour")


def test_an_iterator_that_raises_breaks_the_upload_off(http):
    def broken():
        yield b"some"
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        warmwire.post(http.url("/body"), content=broken())
    assert warmwire.get(http.url("/bytes/1")).status_code == 200


def test_redirects(http):
    reply = warmwire.get(http.url("/redirect/3"))
    assert (reply.status_code, reply.is_redirect, reply.history) == (302, True, [])
    reply = warmwire.get(http.url("/redirect/3"), follow_redirects=True)
    assert reply.text == "arrived\n" and reply.url == http.url("/redirect/0/302")
    assert [hop.status_code for hop in reply.history] == [302, 302, 302]
    assert [hop.url for hop in reply.history][:2] == [http.url("/redirect/3"), http.url("/redirect/2/302")]
    with pytest.raises(warmwire.TooManyRedirects) as raised:
        warmwire.get(http.url("/redirect/9"), follow_redirects=True, max_redirects=3)
    assert (raised.value.code, raised.value.name) == (47, "TOO_MANY_REDIRECTS")


def test_a_priority_is_a_field_of_the_request():
    seen = []

    def reply(handler):
        seen.append(handler.headers.get("Priority"))
        answer(handler, b"x")

    site = Site(reply)
    warmwire.get(site.root, priority="u=1,i")
    warmwire.get(site.root)
    assert seen == ["u=1, i", None]
    with pytest.raises(ValueError, match="a priority is u=0 to u=7"):
        warmwire.get(site.root, priority="u=8")


def test_early_hints_come_before_the_reply():
    hint = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nLink: </b>\r\n\r\n"
    last = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"
    reply = warmwire.get(Answers(hint + last).url)
    assert reply.status_code == 200 and "link" not in reply.headers and reply.history == []
    assert [(early.status_code, early.headers.get_list("link")) for early in reply.informational] == [(103, ["</a>", "</b>"])]
    assert warmwire.get(Answers(last).url).informational == []


@pytest.mark.parametrize("status, method", [(301, "PUT"), (303, "GET"), (307, "PUT"), (308, "PUT")])
def test_a_redirect_says_which_method_follows(http, status, method):
    there = f"HTTP/1.1 {status} There\r\nLocation: {http.url('/echo')}\r\nContent-Length: 0\r\n\r\n"
    reply = warmwire.put(Answers(there.encode()).url, content=b"again", follow_redirects=True)
    assert reply.text.split()[0] == method and reply.text.endswith("again") == (method == "PUT")


def test_raise_for_status(http):
    reply = warmwire.get(http.url("/status/404"))
    with pytest.raises(warmwire.HTTPStatusError, match="404") as raised:
        reply.raise_for_status()
    assert raised.value.response is reply and raised.value.code == 22
    assert warmwire.get(http.url("/bytes/1")).raise_for_status().status_code == 200


def test_a_server_removes_cookies():
    """RFC 6265, section 5.3: a cookie that has expired leaves the store."""

    def reply(handler):
        rows = {"/in": "a=1; Path=/", "/other": "b=2; Path=/", "/out": "a=; Path=/; Max-Age=0", "/last": "b=; Path=/; Max-Age=0"}
        answer(handler, handler.headers.get("Cookie", "").encode(), **({"Set_Cookie": rows[handler.path]} if handler.path in rows else {}))

    site = Site(reply)
    with warmwire.Client(pool=warmwire.Pool()) as client:
        for path in ("/in", "/other"):
            client.get(site.root + path)
        assert client.get(site.root + "/").text in ("a=1; b=2", "b=2; a=1")
        client.get(site.root + "/out")
        assert dict(client.cookies) == {"b": "2"}
        client.get(site.root + "/last")
        assert dict(client.cookies) == {}
        assert client.get(site.root + "/").text == ""
    site.shutdown()
    site.server_close()


def test_a_reply_changes_only_the_cookies_that_its_transfer_changed():
    ready, go = threading.Event(), threading.Event()

    def reply(handler):
        if handler.path == "/slow":
            ready.set()
            go.wait(20)
        answer(handler, b"", Set_Cookie=f"{handler.path[1:]}=1; Path=/")

    site = Site(reply)
    with warmwire.Client(pool=warmwire.Pool()) as client:
        client.cookies.set("mine", "before", domain="other.test")
        client.cookies.set("gone", "1", domain="other.test")
        slow = threading.Thread(target=client.get, args=(site.root + "/slow",))
        slow.start()
        ready.wait(20)
        client.cookies.set("mine", "after", domain="other.test")
        del client.cookies["gone"]
        go.set()
        slow.join(20)
        assert dict(client.cookies) == {"mine": "after", "slow": "1"}
    site.shutdown()
    site.server_close()


def test_cookies_stay_with_the_client(http):
    client = warmwire.Client(cookies={"given": "1"})
    client.get(http.url("/cookies/set/kept/yes"))
    assert dict(client.cookies) == {"given": "1", "kept": "yes"}
    sent = client.get(http.url("/cookies"), cookies={"once": "2"}).text
    assert sorted(sent.split("; ")) == ["given=1", "kept=yes", "once=2"]
    assert sorted(client.get(http.url("/cookies")).text.split("; ")) == ["given=1", "kept=yes"]
    other = http.url("/cookies").replace("127.0.0.1", "localhost")
    assert client.get(other).text == "given=1"
    assert warmwire.get(http.url("/cookies")).text == ""


def test_settings_changed_later_count(http):
    client = warmwire.Client()
    assert [client.get(http.url("/redirect/2")).status_code for _ in range(2)] == [302, 302]
    client.follow_redirects = True
    assert client.get(http.url("/redirect/2")).status_code == 200
    client.max_redirects = 1
    with pytest.raises(warmwire.TooManyRedirects):
        client.get(http.url("/redirect/2"))
    client.timeout.total = 0.3
    with pytest.raises(warmwire.TimeoutException):
        client.get(http.url("/delay/60000/bytes/1"))
    client.timeout.total = None
    client.auth = ("me", "secret")
    assert client.get(http.url("/basic/me/secret")).status_code == 200
    client.auth = None
    assert client.get(http.url("/basic/me/secret")).status_code == 401
    client.cookies["given"] = "1"
    assert client.get(http.url("/cookies")).text == "given=1"
    client.cookies.clear()
    assert client.get(http.url("/cookies")).text == ""
    client.headers["X-Mark"] = "1"
    assert "X-Mark: 1" in client.get(http.url("/echo")).text


def test_logging_in(http):
    assert warmwire.get(http.url("/basic/me/secret"), auth=("me", "secret")).text == "welcome\n"
    assert warmwire.get(http.url("/basic/me/secret"), auth=("me", "wrong")).status_code == 401
    assert warmwire.get(http.url("/basic/me/secret")).status_code == 401
    assert warmwire.get(http.url("/basic/me/secret"), auth=warmwire.Auth("me", "secret", "any")).text == "welcome\n"
    assert "Authorization: Bearer t0ken" in warmwire.get(http.url("/echo"), auth=warmwire.BearerAuth("t0ken")).text


def test_codings_are_taken_off(http):
    for coding in ("gzip", "deflate"):
        assert warmwire.get(http.url(f"/{coding}/5000")).content == pattern(5000)


def test_event_hooks(http):
    seen = []

    def outgoing(request):
        request.headers["X-Hook"] = "was here"
        seen.append((request.method, request.url))

    hooks = {"request": [outgoing], "response": [lambda reply: seen.append(reply.status_code), warmwire.Response.raise_for_status]}
    client = warmwire.Client(event_hooks=hooks)
    assert "X-Hook: was here" in client.get(http.url("/echo")).text
    assert seen == [("GET", http.url("/echo")), 200]
    with pytest.raises(warmwire.HTTPStatusError):
        client.get(http.url("/status/500"))


def test_a_body_in_pieces(http):
    with warmwire.stream("GET", http.url("/bytes/5000000")) as reply:
        assert reply.status_code == 200
        with pytest.raises(warmwire.StreamConsumed):
            reply.content  # noqa: B018
        pieces = list(reply.iter_bytes())
    assert len(pieces) > 3 and b"".join(pieces) == pattern(5000000)
    with warmwire.stream("GET", http.url("/bytes/1000")) as reply:
        assert [len(piece) for piece in reply.iter_bytes(300)] == [300, 300, 300, 100]
        with pytest.raises(warmwire.StreamConsumed):
            list(reply.iter_bytes())
    with warmwire.stream("GET", http.url("/bytes/0")) as reply:
        assert reply.read() == b"" and reply.content == b""


def test_the_head_of_a_slow_body_comes_at_once(http):
    start = time.monotonic()
    with warmwire.stream("GET", http.url("/drip/1/500/bytes/60")) as reply:
        assert reply.status_code == 200
        assert time.monotonic() - start < 15  # the whole body takes 30
        assert next(reply.iter_bytes()) == pattern(60)[:1]


def test_lines(http):
    server = Answers(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=latin-1\r\n\r\none\r\ntw\xf6\n\nfour")
    with warmwire.stream("GET", server.url) as reply:
        assert list(reply.iter_lines()) == ["one", "twö", "", "four"]


def test_who_reads_slowly_stops_the_sender(http):
    """The server's end of the connection fills up: what is untaken stays within the window."""
    sent = Sender()
    with warmwire.stream("GET", sent.url) as reply:
        pieces = reply.iter_bytes()
        next(pieces)
        deadline = time.monotonic() + 30
        while sent.count != (last := sent.count) or last == 0 or not sent.stuck():
            assert time.monotonic() < deadline, "the sender never stops"
            time.sleep(0.05)
        assert sent.count < 64 << 20
    sent.join()


class Answers:
    """Answers each connection with these bytes and closes it."""

    def __init__(self, *answers):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/"
        threading.Thread(target=self.serve, args=(answers,), daemon=True).start()

    def serve(self, answers):
        for answer in answers:
            peer, _ = self.listener.accept()
            peer.recv(65536)
            peer.sendall(answer)
            peer.shutdown(socket.SHUT_WR)
            peer.recv(65536)
            peer.close()
        self.listener.close()


class Sender:
    """Sends for as long as somebody takes it."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/"
        self.count, self.at = 0, time.monotonic()
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        peer, _ = self.listener.accept()
        peer.recv(65536)
        try:
            peer.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            while True:
                self.count += peer.send(b"x" * 65536)
                self.at = time.monotonic()
        except OSError:
            pass
        peer.close()
        self.listener.close()

    def stuck(self):
        return time.monotonic() - self.at > 1

    def join(self):
        self.thread.join(20)
        assert not self.thread.is_alive(), "the connection was not closed"


@pytest.mark.parametrize(
    "path, kind, code",
    [
        ("/cut/300/bytes/1000", warmwire.IncompleteBody, 18),
        ("/cut/0/bytes/1000", warmwire.TransportError, 52),
        ("/reset/600/bytes/100000", warmwire.TransportError, 56),
    ],
)
def test_servers_that_break_off(http, path, kind, code):
    with pytest.raises(kind) as raised:
        warmwire.get(http.url(path))
    assert raised.value.code == code and isinstance(raised.value, ConnectionError)
    assert raised.value.request.method == "GET"


def test_a_stream_that_breaks_off_gives_what_came(http):
    with warmwire.stream("GET", http.url("/cut/600/bytes/1000")) as reply:
        got = b""
        with pytest.raises(warmwire.IncompleteBody):
            for piece in reply.iter_bytes():
                got += piece
    assert 0 < len(got) < 1000 and pattern(1000).startswith(got)


def test_errors_are_typed(http):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(warmwire.ConnectError) as raised:
        warmwire.get(f"http://127.0.0.1:{port}/")
    assert raised.value.code == 7
    with pytest.raises(warmwire.ResolveError) as raised:
        warmwire.get("http://nowhere.invalid/")
    assert raised.value.code == 6 and isinstance(raised.value, warmwire.ConnectError)
    with pytest.raises(warmwire.InvalidURL):
        warmwire.get("nonsense://host/")
    with pytest.raises(warmwire.InvalidURL):
        warmwire.get("http://ho st/")
    with pytest.raises(warmwire.OptionError):
        warmwire.get(http.url("/"), options={"NO_SUCH": 1})
    with pytest.raises(TypeError, match="colour"):
        warmwire.get(http.url("/"), colour="red")
    with pytest.raises(warmwire.ProtocolError):
        warmwire.get(Answers(b"HTTP/1.1 200 OK\r\nContent-Length: 1x\r\n\r\n").url)


def test_timeouts(http):
    start = time.monotonic()
    with pytest.raises(warmwire.TimeoutException) as raised:
        warmwire.get(http.url("/delay/60000/bytes/1"), timeout=warmwire.Timeout(total=0.3))
    assert raised.value.code == 28 and isinstance(raised.value, TimeoutError)
    with pytest.raises(warmwire.TimeoutException):
        warmwire.get(http.url("/delay/60000/bytes/1"), timeout=1)
    assert time.monotonic() - start < 30


def test_certificates(https):
    with pytest.raises(warmwire.TLSError) as raised:
        warmwire.get(https.url("/bytes/1"))
    assert raised.value.code == 60
    assert warmwire.get(https.url("/bytes/1"), verify=https.ca).status_code == 200
    assert warmwire.get(https.url("/bytes/1"), verify=False).status_code == 200
    client = warmwire.Client(verify=https.ca, pool=warmwire.Pool())
    assert [client.get(https.url("/bytes/1")).new_connections for _ in range(3)] == [1, 0, 0]


def test_checks_of_certificates_are_among_the_reasons(https):
    def checks(why):
        events = [event for request in why.json()["requests"] for event in request["events"]]
        [report] = [event for event in events if event["event"] == "certificate-checks"]
        return {check["check"]: check["outcome"] for check in report["checks"]}

    with pytest.raises(warmwire.TLSError) as raised:
        warmwire.get(https.url("/bytes/1"), explain="certificates")
    assert checks(raised.value.why)["trust-anchor"] == "failed"
    # A connection that another test has left open would bring no certificates.
    client = warmwire.Client(verify=https.ca, pool=warmwire.Pool())
    accepted = client.get(https.url("/bytes/1"), explain="certificates")
    assert checks(accepted.why)["host-name"] == "passed"


def test_certificates_of_clients(certificate, tmp_path):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.load_verify_locations(f"{certificate}.crt")
    context.verify_mode = ssl.CERT_REQUIRED
    locked = tmp_path / "locked.pem"
    words = ["openssl", "pkey", "-in", certificate, "-aes256", "-passout", "pass:secret", "-out", locked]
    subprocess.run(words, check=True, capture_output=True)
    site, alone = Site(lambda handler: answer(handler, b"known"), context), f"{certificate}.crt"
    for cert in (certificate, (alone, certificate), (alone, locked, "secret")):
        assert warmwire.get(site.root, verify=alone, cert=cert, pool=warmwire.Pool()).content == b"known"
    with pytest.raises(warmwire.RequestError):
        warmwire.get(site.root, verify=alone, pool=warmwire.Pool())
    with pytest.raises(warmwire.TLSError):
        warmwire.get(site.root, verify=alone, cert=tmp_path / "missing", pool=warmwire.Pool())


def test_a_proxy(http):
    reply = warmwire.get("http://host.example/echo", proxy=http.root.replace("//", "//me:secret@"))
    assert reply.text.startswith("GET http://host.example/echo HTTP/1.1")
    assert "Proxy-Authorization: Basic bWU6c2VjcmV0" in reply.text


def test_lists_of_proxies_and_pac_files(http, tmp_path):
    with socket.socket() as dead:
        dead.bind(("127.0.0.1", 0))
        unused = f"http://127.0.0.1:{dead.getsockname()[1]}"
    proxies = f"{unused} {http.root}"
    assert warmwire.get("http://host.example/echo", proxy=proxies).text.startswith("GET http://host.example/echo ")
    file = tmp_path / "proxy.pac"
    place = http.root.removeprefix("http://")
    file.write_text(f"function FindProxyForURL(url, host) {{ return isPlainHostName(host) ? 'DIRECT' : 'PROXY {place}' }}")
    reply = warmwire.get("http://host.example/echo", proxy=f"pac+{file.as_uri()}")
    assert reply.text.startswith("GET http://host.example/echo ")
    with pytest.raises(warmwire.RequestError, match="cannot be used"):
        warmwire.get("http://host.example/echo", proxy=f"pac+{file.as_uri()}x")
    assert warmwire.get(http.url("/bytes/1"), proxy="auto://").status_code == 200


def test_an_option_of_a_wrong_type_keeps_the_connections(http):
    client = warmwire.Client(pool=warmwire.Pool())
    assert client.get(http.url("/bytes/1")).new_connections == 1
    with pytest.raises(TypeError):
        client.get(http.url("/bytes/1"), options={"RANGE": object()})
    assert client.get(http.url("/bytes/1")).new_connections == 0


def policy(folder, *lines):
    file = folder / f"policy-{len(list(folder.iterdir()))}"
    file.write_text("\n".join(("version 1", *lines, "")))
    return file


def refusal(fetch):
    with pytest.raises(warmwire.RequestError) as caught:
        fetch()
    assert (caught.value.code, caught.value.name) == (9, "REMOTE_ACCESS_DENIED")
    return str(caught.value)


def test_an_access_policy_refuses_addresses(http, tmp_path):
    url, public = http.url("/bytes/9"), policy(tmp_path)
    local = warmwire.Client(access_policy=policy(tmp_path, "allow address loopback"))
    assert local.get(url).status_code == 200
    text = refusal(lambda: warmwire.Client(access_policy=os.fspath(public)).get(url))
    assert "refuses address 127.0.0.1" in text and str(public) in text
    # The kept connection of the request before is no way around the policy of this one.
    refusal(lambda: local.get(url, access_policy=public))
    refusal(lambda: warmwire.get(url, access_policy=public))
    (one,) = warmwire.fetch_many([url], client=warmwire.Client(access_policy=public), retries=0)
    assert one.error.code == 9
    with pytest.raises(warmwire.RequestError) as caught:
        local.get(url, access_policy=public, explain=True)
    (request,) = pickle.loads(pickle.dumps(caught.value)).why.json()["requests"]
    (event,) = [event for event in request["events"] if event["event"] == "policy-refused"]
    assert (event["check"], event["policy"], event["refused"]) == ("address", str(public), "address 127.0.0.1")
    assert "refuses address 127.0.0.1 (check: address): it is not public" in str(caught.value.why)

    async def fetch():
        async with warmwire.AsyncClient(access_policy=public) as client:
            await client.get(url)

    refusal(lambda: asyncio.run(fetch()))


def test_an_access_policy_judges_redirects_and_proxies(http, tmp_path):
    site = Site(lambda handler: answer(handler, b"", 302, Location="http://10.1.2.3/"))
    local = policy(tmp_path, "allow address loopback")
    client = warmwire.Client(access_policy=local, follow_redirects=True)
    assert "refuses address 10.1.2.3" in refusal(lambda: client.get(site.root))
    assert client.get(site.root, follow_redirects=False).status_code == 302
    assert "proxy" in refusal(lambda: client.get("http://host.example/", proxy=http.root))


def test_a_connection_is_left_when_its_name_moves():
    first = Site(lambda handler: answer(handler, b"first"))
    port = first.server_address[1]
    second = Site(lambda handler: answer(handler, b"second"), at=("127.0.0.2", port))
    for follows, last in ((True, "second"), (None, "first"), (False, "first")):
        names = NameServer(place="127.0.0.1")
        options = {"DNS_SERVERS": names.address}
        with warmwire.Client(follow_names=follows, options=options, pool=warmwire.Pool()) as client:
            assert client.get(f"http://a.example:{port}/").text == "first"
            names.place = "127.0.0.2"
            time.sleep(1.1)
            reply = client.get(f"http://a.example:{port}/", explain=True)
            assert reply.text == last
            assert ("name-moved" in str(reply.why.json())) == bool(follows)
    assert len(second.seen) == 1


def test_an_access_policy_that_is_no_policy_is_an_error(http, tmp_path):
    pool = warmwire.Pool()
    for file, words in ((policy(tmp_path, "allow scheem http"), "line 2"), (tmp_path / "missing", "missing")):
        for _ in range(2):
            with pytest.raises(warmwire.OptionError, match=words) as caught:
                warmwire.Client(access_policy=file, pool=pool).get(http.url("/bytes/9"))
            assert caught.value.code == 43
    assert warmwire.Client(pool=pool).get(http.url("/bytes/9")).status_code == 200


def test_a_tunnel(https):
    proxy = Site(tunnel)
    reply = warmwire.get(https.url("/bytes/1000"), proxy=proxy.root, verify=https.ca, pool=warmwire.Pool())
    assert reply.content == pattern(1000)
    assert [row[0] for row in proxy.seen] == [https.root.removeprefix("https://")]


def test_proxies_of_the_environment(http, monkeypatch):
    for name in ("no_proxy", "NO_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", http.root)
    assert warmwire.get("http://host.invalid/echo").text.startswith("GET http://host.invalid/echo ")
    with pytest.raises(warmwire.ResolveError):
        warmwire.Client(trust_env=False).get("http://host.invalid/echo")


def test_digests():
    def guarded(handler):
        given = handler.headers.get("Authorization", "")
        fields = dict(re.findall(r'(\w+)="?([^",]*)"?', given.removeprefix("Digest ")))
        if not given.startswith("Digest "):
            return answer(handler, b"", 401, WWW_Authenticate='Digest realm="here", nonce="n0nce", qop="auth", algorithm=SHA-256')
        mine, asked = (sha256(text.encode()).hexdigest() for text in ("me:here:secret", f"GET:{handler.path}"))
        whole = ":".join((mine, "n0nce", fields["nc"], fields["cnonce"], "auth", asked))
        return answer(handler, b"", 200 if fields["response"] == sha256(whole.encode()).hexdigest() else 403)

    site = Site(guarded)
    assert warmwire.get(site.root + "/x", auth=warmwire.DigestAuth("me", "secret")).status_code == 200
    assert warmwire.get(site.root + "/x", auth=warmwire.DigestAuth("me", "wrong")).status_code == 403


def test_options_by_name(http):
    assert warmwire.get(http.url("/echo"), options={"RANGE": "5-9"}).text.count("Range: bytes=5-9") == 1


def test_ftp(tmp_path):
    from conftest import Served

    server = Served("ftp")
    try:
        reply = warmwire.get(server.root)
        assert reply.content == pattern(2000) and reply.is_success and reply.http_version == ""
        with pytest.raises(warmwire.RemoteFileNotFound):
            warmwire.get(server.root + "-missing")
        folder = server.root.rsplit("/", 1)[0]
        warmwire.put(folder + "/new", content=iter([b"by ", b"pieces"]))
        assert warmwire.get(folder + "/new").content == b"by pieces"
        warmwire.put(folder + "/new", content=b"at once")
        assert warmwire.get(folder + "/new").content == b"at once"
    finally:
        server.stop()


def test_threads_share_one_client(http):
    client = warmwire.Client(pool=warmwire.Pool())
    wrong = []

    def work(number):
        for turn in range(50):
            size = number * 1000 + turn
            if client.get(http.url(f"/bytes/{size}")).content != pattern(size):
                wrong.append(size)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    [thread.start() for thread in threads]
    [thread.join(120) for thread in threads]
    assert not wrong and not any(thread.is_alive() for thread in threads)


def test_the_interpreter_goes_on_while_a_transfer_waits(http):
    turns = 0
    thread = threading.Thread(target=lambda: warmwire.get(http.url("/delay/1000/bytes/1")))
    thread.start()
    while thread.is_alive():
        turns += 1
        time.sleep(0.01)
    assert turns > 10


def test_a_child_of_a_fork_has_connections_of_its_own(http):
    client = warmwire.Client()
    with client.stream("GET", http.url("/bytes/3000000")) as held:
        assert client.get(http.url("/bytes/10")).status_code == 200
        child = os.fork()
        if child == 0:
            done = 1
            try:
                found = [client.get(http.url("/bytes/10")).new_connections for _ in range(2)]
                done = 0 if found == [1, 0] else 2
            finally:
                os._exit(done)
        assert os.waitpid(child, 0)[1] == 0
        assert held.read() == pattern(3000000)
    assert client.get(http.url("/bytes/10")).new_connections == 0


def test_nothing_is_left(http):
    def rounds():
        pool = warmwire.Pool()
        with warmwire.Client(pool=pool) as client:
            for path in ("/bytes/10", "/status/404", "/cut/300/bytes/1000", "/reset/600/bytes/9999"):
                for _ in range(5):
                    try:
                        client.get(http.url(path))
                    except warmwire.RequestError:
                        pass
            for _ in range(5):
                with client.stream("GET", http.url("/bytes/9000000")) as reply:
                    next(reply.iter_bytes())
            client.send(client.build_request("GET", http.url("/bytes/9000000")), stream=True)  # forgotten
        gc.collect()

    rounds()
    before = descriptors()
    for _ in range(3):
        rounds()
    assert descriptors() <= before


INTERRUPTED = """
import contextlib, gc, os, signal, socket, sys, threading, time
import warmwire
url, how, folder = sys.argv[1:]
def soon():
    time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=soon, daemon=True).start()
start = time.monotonic()
try:
    if how == "get":
        warmwire.get(url)
    elif how == "stream":
        with warmwire.stream("GET", url) as reply:
            reply.read()
    elif how == "asyncio":
        import asyncio
        async def main():
            async with warmwire.AsyncClient() as client:
                await client.get(url)
        asyncio.run(main())
    elif how == "upload":
        warmwire.post(url, content=iter([b"one", b"two"]))
    elif how == "easy":
        from warmwire.easy import Easy
        Easy(URL=url).perform()
    elif how == "multi":
        from warmwire.easy import Easy, Multi
        multi = Multi()
        multi.add(Easy(URL=url))
        with contextlib.closing(multi):
            multi.wait(50)
    elif how == "batches":
        list(warmwire.fetch_batches([url]))
    elif how == "afetch":
        import asyncio
        async def main():
            return [one async for one in warmwire.afetch_many([url])]
        asyncio.run(main())
    elif how in ("cat", "ranges", "file", "open"):
        from warmwire.filesystem import WarmwireFileSystem
        files = WarmwireFileSystem()
        if how == "cat":
            files.cat_file(url)
        elif how == "open":
            with files.open(url, size=1000) as file:
                file.read(10)
        elif how == "ranges":
            files.cat_ranges([url] * 3, [0, 1000000, 2000000], [1, 1000001, 2000001])
        else:
            files.get_file(url, os.path.join(folder, "file"))
    else:
        list(warmwire.fetch_many([url]))
except KeyboardInterrupt:
    gc.collect()
    left = 0
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(int(number))) as found:
            left += found.family in (socket.AF_INET, socket.AF_INET6)
    print("interrupted", time.monotonic() - start < 20, left)
"""


def test_control_c_ends_each_call(http, tmp_path):
    ways = "get stream asyncio many upload easy multi batches afetch cat ranges file open".split()
    command = [sys.executable, "-c", INTERRUPTED, http.url("/delay/60000/bytes/1")]
    begun = [(how, subprocess.Popen([*command, how, str(tmp_path)], stdout=-1, stderr=-1, text=True)) for how in ways]
    outputs = {how: process.communicate(timeout=60) for how, process in begun}
    words = {how: out.split() for how, (out, _) in outputs.items()}
    assert words == {how: ["interrupted", "True", "0"] for how in ways}, outputs


def test_signals_have_their_default():
    assert signal.getsignal(signal.SIGPIPE) == signal.SIG_IGN
