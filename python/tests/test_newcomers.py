"""Mistakes that newcomers met, and what the package promises to users of httpx and requests."""

import asyncio
import copy
import inspect
import io
import json
import logging
import pickle
import ssl
import threading
import time
import types
from urllib.parse import urlsplit

import pytest
import warmwire
from patterns import pattern
from sites import Site, answer
from test_client import Answers, Sender
from warmwire.easy import Easy

FIELDS = ("POSTFIELDS", "COPYPOSTFIELDS")
OBJECTS = "STDERR SHARE ERRORBUFFER HTTPPOST STREAM_DEPENDS STREAM_DEPENDS_E CURLU".split()


@pytest.mark.parametrize("name", FIELDS)
def test_post_fields_are_sent(http, name):
    easy = Easy(URL=http.url("/body"), **{name: "a=1"})
    easy.perform()
    assert easy.body == b"a=1"
    assert warmwire.get(http.url("/body"), options={name: "a=1"}).content == b"a=1"


@pytest.mark.parametrize("value", ["text", 1, b"bytes"])
@pytest.mark.parametrize("name", OBJECTS)
def test_options_that_cannot_work_raise(http, name, value):
    for run in (lambda: Easy(URL=http.url("/bytes/1"), **{name: value}).perform(), lambda: warmwire.get(http.url("/"), options={name: value})):
        with pytest.raises(warmwire.RequestError) as raised:
            run()
        assert name in str(raised.value) and raised.value.code in (4, 43, 48)


def test_a_form_of_text_raises(http):
    for value in ("text", 1):
        with pytest.raises((warmwire.OptionError, TypeError)):
            warmwire.get(http.url("/"), options={"MIMEPOST": value})


def soonest(run):
    """Returns the shortest time of three runs: a busy machine delays one of them, not all."""
    times = []
    for _ in range(3):
        start = time.monotonic()
        run()
        times.append(time.monotonic() - start)
        if times[-1] < 0.5:
            break
    return min(times)


@pytest.mark.parametrize("seconds", [0.2, 0.5])
def test_inactivity_is_counted_in_milliseconds(http, seconds):
    for path in ("/delay/60000/bytes/1", "/drip/1/60000/bytes/60"):

        def ended(path=path):
            with pytest.raises(warmwire.ReadTimeout, match="No data was transferred") as raised:
                warmwire.get(http.url(path), timeout=seconds)
            assert raised.value.code == 28 and raised.value.request.url == http.url(path)

        assert seconds <= soonest(ended) < seconds + 0.4


def test_progress_extends_the_limit(http):
    # A byte each 100 ms for 2 seconds.
    start = time.monotonic()
    assert warmwire.get(http.url("/drip/1/100/bytes/20"), timeout=0.7).content == pattern(20)
    assert time.monotonic() - start > 1.5


def test_a_slow_reader_is_not_inactivity(http):
    sender = Sender()
    with warmwire.stream("GET", sender.url, timeout=0.5) as reply:
        pieces, got = reply.iter_bytes(), 0
        for _ in range(2):
            while got < 3_000_000:
                got += len(next(pieces))
            time.sleep(1.2)
            got = 0
    sender.join()


def test_async_inactivity_is_counted_in_milliseconds(http):
    async def main():
        async with warmwire.AsyncClient(timeout=0.3) as client:
            await client.get(http.url("/delay/60000/bytes/1"))

    def ended():
        with pytest.raises(warmwire.ReadTimeout):
            asyncio.run(main())

    assert 0.3 <= soonest(ended) < 0.9


def test_the_default_limit_can_be_switched_off(http):
    assert warmwire.Client().timeout == warmwire.Timeout(30)
    off = dict(warmwire.Timeout(None).options())
    on = dict(warmwire.Timeout(30).options())
    stall = warmwire._native.STALL_LIMIT_MS
    assert on[stall] == 30_000 and stall not in off
    assert warmwire.Client(timeout=None).timeout == warmwire.Timeout(None)
    reply = warmwire.Client(timeout=0.2).get(http.url("/delay/600/bytes/1"), timeout=None)
    assert reply.status_code == 200
    for wrong in (0, -1, "1", True):
        with pytest.raises(ValueError, match="seconds above 0"):
            warmwire.Timeout(wrong)


def unaccepting():
    """Returns a listener whose queue is full: the next connection gets no answer."""
    import socket

    listener = socket.create_server(("127.0.0.1", 0), backlog=0)
    held = []
    for _ in range(4):
        one = socket.socket()
        one.setblocking(False)
        one.connect_ex(listener.getsockname())
        held.append(one)
    time.sleep(0.1)
    return listener, held


def test_each_time_out_has_its_exception(http):
    listener, held = unaccepting()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/"

    def ended():
        with pytest.raises(warmwire.ConnectTimeout) as raised:
            warmwire.get(url, timeout=warmwire.Timeout(connect=0.3), pool=warmwire.Pool())
        assert isinstance(raised.value, warmwire.ConnectError) and raised.value.code == 28

    assert 0.3 <= soonest(ended) < 0.9
    for one in (*held, listener):
        one.close()
    # A server that reads nothing: what the sockets buffer is sent, the rest is not.
    silent = Silent()
    with pytest.raises(warmwire.WriteTimeout):
        warmwire.post(silent.url, content=b"x" * 30_000_000, timeout=0.4)
    with pytest.raises(warmwire.WriteTimeout):
        warmwire.post(silent.url, content=iter([b"x" * 1_000_000] * 30), timeout=0.4)
    with pytest.raises(warmwire.ReadTimeout):
        warmwire.post(silent.url, content=b"x", timeout=0.4)
    client = warmwire.Client(limits=warmwire.Limits(max_connections=1), timeout=warmwire.Timeout(5, pool=0.2))
    with client.stream("GET", http.url("/bytes/10000000")), pytest.raises(warmwire.PoolTimeout, match="max_connections"):
        client.get(http.url("/bytes/1"))
    assert client.get(http.url("/bytes/1")).status_code == 200


class Silent:
    """Accepts connections and reads nothing."""

    def __init__(self):
        import socket

        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/"
        self.held = []
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            self.held.append(self.listener.accept()[0])


def test_limits_hold_for_threads_and_tasks():
    site = Site(lambda handler: (time.sleep(0.02), answer(handler, b"x")))
    client = warmwire.Client(limits=warmwire.Limits(max_connections=2))
    threads = [threading.Thread(target=client.get, args=(site.root,)) for _ in range(10)]
    [thread.start() for thread in threads]
    [thread.join(20) for thread in threads]
    assert len(site.seen) == 10 and site.most <= 2

    async def main():
        async with warmwire.AsyncClient(limits=warmwire.Limits(max_connections=3)) as client:
            await asyncio.gather(*(client.get(site.root) for _ in range(12)))

    asyncio.run(main())
    assert len(site.seen) == 22 and site.most == 3


def test_urls_of_other_libraries(http):
    import httpx

    assert warmwire.get(httpx.URL(http.url("/bytes/3"))).content == pattern(3)
    assert warmwire.get(urlsplit(http.url("/bytes/3"))).content == pattern(3)
    for wrong in (5, None, b"http://127.0.0.1/", ["http://127.0.0.1/"]):
        with pytest.raises(TypeError, match="a URL is a str, not"):
            warmwire.get(wrong)


def test_max_redirects_without_following(http):
    assert warmwire.get(http.url("/redirect/2"), max_redirects=5).status_code == 302


def test_request_headers_are_those_sent(http):
    for how in ({}, {"headers": {"X-Mine": "1", "Accept": "text/plain"}}, {"method": "POST", "content": b"abc"}):
        method = how.pop("method", "GET")
        reply = warmwire.request(method, http.url("/echo"), **how)
        sent = dict(line.split(": ", 1) for line in reply.text.split("\r\n\r\n")[0].split("\r\n")[1:])
        assert dict(reply.request.headers.multi_items()) == sent
        # They are also sent if a hook has looked at them before.
        client = warmwire.Client(event_hooks={"request": [lambda request: request.headers["host"]]})
        assert client.request(method, http.url("/echo"), **how).text.count("\r\n") == reply.text.count("\r\n")

    def bare(request):
        for name in ("User-Agent", "Accept", "Accept-Encoding"):
            del request.headers[name]

    text = warmwire.Client(event_hooks={"request": [bare]}).get(http.url("/echo")).text
    assert [line.split(":")[0] for line in text.split("\r\n")[1:] if line] == ["Host"]


def test_responses_are_pickled(http):
    reply = warmwire.Client(follow_redirects=True).get(http.url("/redirect/1"), headers={"X-Mine": "1"})
    twin = pickle.loads(pickle.dumps(reply))
    assert (twin.status_code, twin.content, twin.url, twin.headers) == (200, reply.content, reply.url, reply.headers)
    assert twin.request.method == "GET" and twin.request.headers["x-mine"] == "1"
    assert [hop.status_code for hop in twin.history] == [302] and twin.elapsed == reply.elapsed
    assert pickle.loads(pickle.dumps(twin)).text == reply.text == copy.deepcopy(reply).text
    with warmwire.stream("GET", http.url("/bytes/10")) as unread:
        twin = pickle.loads(pickle.dumps(unread))
    with pytest.raises(warmwire.StreamConsumed):
        twin.content  # noqa: B018


def test_errors_are_pickled(http):
    with pytest.raises(warmwire.RequestError) as raised:
        warmwire.get("http://127.0.0.1:1/")
    twin = pickle.loads(pickle.dumps(raised.value))
    assert (type(twin), twin.code, twin.name, twin.request.url) == (warmwire.ConnectError, 7, "COULDNT_CONNECT", "http://127.0.0.1:1/")
    with pytest.raises(warmwire.HTTPStatusError) as raised:
        warmwire.get(http.url("/status/404")).raise_for_status()
    twin = pickle.loads(pickle.dumps(raised.value))
    assert (twin.response.status_code, twin.code) == (404, 22)


def test_how_things_print(http):
    from conftest import Served

    server = Served("ftp")
    try:
        assert repr(warmwire.get(server.root)) == "<Response [226]>"
    finally:
        server.stop()
    assert repr(warmwire.get(http.url("/bytes/1"))) == "<Response [200 OK]>"
    assert repr(warmwire.get(f"file://{__file__}")) == "<Response [OK]>"
    shown = [
        warmwire.Client(auth=("me", "s3cret")),
        warmwire.AsyncClient(base_url="https://example.com"),
        warmwire.default_pool(),
        warmwire.Timeout(1),
        warmwire.DigestAuth("me", "s3cret"),
        warmwire.BearerAuth("s3cret"),
        warmwire.Headers({"Authorization": "s3cret"}),
        warmwire.URL("http://me:s3cret@host/"),
        warmwire.filesystem.WarmwireFileSystem(),
    ]
    for one in shown:
        assert " object at 0x" not in repr(one) and "s3cret" not in repr(one)


def test_public_names_only():
    assert not [name for name in dir(warmwire) if name.startswith("_") and not name.startswith("__")]
    assert "annotations" not in dir(warmwire) and "Any" not in dir(warmwire)
    public = [getattr(warmwire, name) for name in warmwire.__all__]
    kinds = [one for one in public if isinstance(one, (type, types.FunctionType))]
    assert len(kinds) > 50 and {one.__module__ for one in kinds} == {"warmwire"}
    with pytest.raises(warmwire.ConnectError) as raised:
        warmwire.get("http://127.0.0.1:1/")
    assert str(type(raised.value)) == "<class 'warmwire.ConnectError'>"


def test_signatures_name_every_keyword():
    for call in (warmwire.get, warmwire.request, warmwire.Client.post, warmwire.AsyncClient.get, warmwire.fetch_many):
        names = inspect.signature(call).parameters
        assert {"timeout", "headers", "auth", "verify"} <= set(names) and "how" not in names
    with pytest.raises(TypeError, match="tiemout"):
        warmwire.get("http://127.0.0.1:1/", tiemout=5)
    with pytest.raises(TypeError, match="tiemout"):
        warmwire.Client(tiemout=5)


def test_every_exception_has_one_base_and_a_code():
    kinds = [getattr(warmwire, name) for name in warmwire.__all__ if isinstance(getattr(warmwire, name), type)]
    errors = [kind for kind in kinds if issubclass(kind, Exception)]
    assert len(errors) >= 24 and all(issubclass(kind, warmwire.WarmwireError) and hasattr(kind, "code") for kind in errors)
    for kind in (warmwire.ConnectTimeout, warmwire.ReadTimeout, warmwire.WriteTimeout, warmwire.PoolTimeout):
        assert issubclass(kind, warmwire.TimeoutException)


PROGRAM = """
import asyncio
import ssl
import warmwire
from warmwire.easy import Easy

def main() -> None:
    reply: warmwire.Response = warmwire.get("https://example.com/", params={"a": 1}, headers={"A": "b"}, timeout=5)
    text: str = reply.text
    with warmwire.Client(timeout=None, verify=ssl.create_default_context(), proxy={"all://": "http://proxy:1"}) as client:
        size: int = len(client.post("https://example.com/", json={"a": [text]}, auth=("me", "secret")).content)
        with client.stream("GET", "https://example.com/", follow_redirects=True) as streamed:
            for piece in streamed.iter_bytes(size):
                print(len(piece), reply.url.params["a"], reply.links)
    for one in warmwire.fetch_many(["https://example.com/"], limit=3, timeout=warmwire.Timeout(5, connect=1)):
        print(one.url, one.path if one.ok else one.error or one.status_code)
    Easy(URL="https://example.com/").perform()

async def waiting() -> bytes:
    async with warmwire.AsyncClient(limits=warmwire.Limits(max_connections=3)) as client:
        return (await client.get("https://example.com/")).content

asyncio.run(waiting())
"""


def test_mypy_finds_a_misspelt_keyword(check_program):
    code, said = check_program(PROGRAM)
    assert code == 0, said
    for wrong in (
        'warmwire.get("https://example.com/", tiemout=5)',
        "warmwire.Client(tiemout=5)",
        'warmwire.Client().post("https://example.com/", tiemout=5)',
        'asyncio.run(warmwire.AsyncClient().get("https://example.com/", tiemout=5))',
        'warmwire.fetch_many(["https://example.com/"], tiemout=5)',
        'warmwire.get("https://example.com/", timeout="5")',
        "warmwire.get(5)",
    ):
        code, said = check_program(f"import asyncio\nimport warmwire\n{wrong}\n")
        assert code == 1 and ("tiemout" in said or "incompatible type" in said), (wrong, said)


def test_a_mock_answers_without_a_connection():
    seen = []

    def handler(request):
        seen.append((request.method, str(request.url), request.content))
        return warmwire.Response(201, json={"path": request.url.path}, headers={"X-Mock": "1", "Set-Cookie": "a=b"})

    client = warmwire.Client(transport=warmwire.MockTransport(handler), base_url="https://api.example.com/v1")
    reply = client.post("items", params={"n": 1}, json={"a": 1})
    assert (reply.status_code, reply.json(), reply.headers["x-mock"]) == (201, {"path": "/v1/items"}, "1")
    assert reply.url == "https://api.example.com/v1/items?n=1" and reply.request.method == "POST"
    assert seen == [("POST", "https://api.example.com/v1/items?n=1", b'{"a":1}')]
    with client.stream("GET", "x") as reply:
        assert b"".join(reply.iter_bytes(4)) == b'{"path":"/v1/x"}' and reply.is_success

    async def answered(request):
        await asyncio.sleep(0)
        return warmwire.Response(404)

    async def main():
        async with warmwire.AsyncClient(transport=warmwire.MockTransport(answered)) as client:
            return await client.get("https://example.com/")

    assert asyncio.run(main()).is_client_error
    with pytest.raises(TypeError, match=r"returns a warmwire\.Response, not str"):
        warmwire.Client(transport=warmwire.MockTransport(lambda request: "text")).get("https://example.com/")


def test_mounts(http):
    mock = warmwire.MockTransport(lambda request: warmwire.Response(200, text="mocked"))
    mounts = {"all://*.example.com": mock, "https://": mock, "http://plain.example.com": None}
    client = warmwire.Client(mounts=mounts)
    assert client.get("http://a.example.com/").text == client.get("https://other.example/").text == "mocked"
    assert client.get(http.url("/bytes/1")).content == pattern(1)
    with pytest.raises(warmwire.ResolveError):
        client.get("http://plain.example.com/", options={"RESOLVE": ["-plain.example.com:80"]}, timeout=2, proxy="")


def test_replies_are_recorded_and_replayed(http, tmp_path):
    path = tmp_path / "replies.json"
    recorder = warmwire.Client(transport=warmwire.ReplayTransport(path, record=True), headers={"Authorization": "s3cret"})
    first = recorder.post(http.url("/body"), content=b"one")
    recorder.get(http.url("/status/404"))
    assert "s3cret" not in path.read_text()
    replay = warmwire.Client(transport=warmwire.ReplayTransport(path))
    second = replay.post(http.url("/body"), content=b"one")
    assert (second.content, second.headers, second.status_code) == (first.content, first.headers, 200)
    assert replay.get(http.url("/status/404")).status_code == 404
    with pytest.raises(warmwire.ConnectError, match="has no reply to POST"):
        replay.post(http.url("/body"), content=b"two")


def test_links_and_next_request(http):
    value = '<https://example.com/?page=2>; rel="next"; title="a, b", <https://example.com/9>; rel=last'
    links = warmwire.Response(200, headers={"Link": value}).links
    assert links["next"] == {"url": "https://example.com/?page=2", "rel": "next", "title": "a, b"}
    assert links["last"]["url"] == "https://example.com/9" and warmwire.Response(200).links == {}
    client = warmwire.Client(headers={"Authorization": "mine"})
    reply = client.get(http.url("/redirect/1"))
    following = reply.next_request
    assert following.url == http.url("/redirect/0/302") and following.headers["authorization"] == "mine"
    assert client.send(following).text == "arrived\n" and client.send(following).next_request is None
    away = Answers(b"HTTP/1.1 303 There\r\nLocation: http://elsewhere.example/\r\nContent-Length: 0\r\n\r\n")
    following = client.post(away.url, content=b"x").next_request
    assert (following.method, following.content) == ("GET", None) and "authorization" not in following.headers


def test_urls_have_parts():
    url = warmwire.URL("HTTPS://me:pass@Example.com:8443/a/b?x=1&x=2#part")
    assert (url.scheme, url.host, url.port, url.path, url.query, url.fragment) == ("https", "example.com", 8443, "/a/b", b"x=1&x=2", "part")
    assert (url.username, url.password, url.raw_path, url.netloc) == ("me", "pass", b"/a/b?x=1&x=2", b"example.com:8443")
    assert url.params.get_list("x") == ["1", "2"] and isinstance(url, str)
    base = warmwire.URL("https://example.com/a")
    assert base.copy_with(path="/b", port=1) == "https://example.com:1/b"
    assert base.copy_merge_params({"y": True}) == "https://example.com/a?y=true"
    assert base.copy_set_param("a", 1).copy_add_param("a", 2).copy_remove_param("b") == "https://example.com/a?a=1&a=2"
    assert base.join("/c") == "https://example.com/c" and warmwire.URL("https://[::1]:8/").host == "::1"
    assert warmwire.URL("https://host:443/").port is None and warmwire.URL("/x").is_relative_url
    with pytest.raises(TypeError, match="nonsense"):
        base.copy_with(nonsense=1)


def test_ssl_contexts(https, certificate):
    context = ssl.create_default_context(cafile=https.ca)
    assert warmwire.get(https.url("/bytes/1"), verify=context).status_code == 200
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    assert warmwire.get(https.url("/bytes/1"), verify=context, pool=warmwire.Pool()).status_code == 200
    careless = ssl.create_default_context()
    careless.check_hostname, careless.verify_mode = False, ssl.CERT_NONE
    assert warmwire.get(https.url("/bytes/1"), verify=careless).status_code == 200
    strict = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    strict.load_cert_chain(certificate)
    strict.load_verify_locations(f"{certificate}.crt")
    strict.verify_mode, strict.minimum_version = ssl.CERT_REQUIRED, ssl.TLSVersion.TLSv1_3
    site = Site(lambda handler: answer(handler, b"known"), strict)
    mine = warmwire.SSLContext()
    mine.load_verify_locations(f"{certificate}.crt")
    mine.load_cert_chain(f"{certificate}.crt", certificate)
    assert warmwire.get(site.root, verify=mine, pool=warmwire.Pool()).content == b"known"
    mine.maximum_version = ssl.TLSVersion.TLSv1_2
    with pytest.raises(warmwire.TLSError):
        warmwire.get(site.root, verify=mine, pool=warmwire.Pool())
    for name, value in (("set_ciphers", "AES128-SHA256"), ("verify_flags", ssl.VERIFY_CRL_CHECK_LEAF)):
        context = ssl.create_default_context()
        getattr(context, name)(value) if name == "set_ciphers" else setattr(context, name, value)
        with pytest.raises(warmwire.OptionError, match="cannot be honoured"):
            warmwire.get(https.url("/bytes/1"), verify=context)


def test_proxies_by_scheme_and_host(http):
    proxies = {"http://host.example": http.root, "https": "http://127.0.0.1:1", "all://": ""}
    client = warmwire.Client(proxy=proxies)
    assert client.get("http://host.example/echo").text.startswith("GET http://host.example/echo ")
    assert client.get(http.url("/echo")).text.startswith("GET /echo ")
    with pytest.raises(warmwire.ConnectError):
        client.get("https://host.example/")
    assert warmwire.get("http://host.example/echo", proxy={"http": http.root}).text.startswith("GET http://host.example/echo ")


def test_progress_is_reported(http, capfd):
    seen = []
    body = warmwire.get(http.url("/bytes/3000000"), on_progress=lambda received, total: seen.append((received, total))).content
    assert body == pattern(3000000) and seen[-1] == (3000000, 3000000) and len(seen) > 3 and seen == sorted(seen)
    seen.clear()
    assert warmwire.get(http.url("/gzip/5000"), on_progress=lambda received, total: seen.append((received, total))).content == pattern(5000)
    assert seen[-1] == (5000, None)
    assert len(warmwire.get(http.url("/bytes/100000"), progress=True).content) == 100000
    assert "100000" in capfd.readouterr().err

    async def main():
        async with warmwire.AsyncClient() as client:
            return await client.get(http.url("/bytes/70000"), on_progress=lambda received, total: seen.append(received))

    assert asyncio.run(main()).content == pattern(70000) and seen[-1] == 70000
    with pytest.raises(warmwire.IncompleteBody):
        warmwire.get(http.url("/cut/600/bytes/1000"), on_progress=lambda received, total: None)


def test_requests_are_logged(http, caplog):
    with caplog.at_level(logging.INFO, logger="warmwire"):
        warmwire.get(http.url("/bytes/1"))
    assert [record.getMessage() for record in caplog.records] == [f'GET {http.url("/bytes/1")} "HTTP/1.1 200 OK"']


def test_cookies_persist(http, tmp_path):
    client = warmwire.Client()
    client.get(http.url("/cookies/set/kept/yes"))
    stored = json.dumps(list(client.cookies.items()))
    twin = pickle.loads(pickle.dumps(client.cookies))
    assert warmwire.Client(cookies=twin).get(http.url("/cookies")).text == "kept=yes" and "kept" in stored


def test_failures_leave_no_file(http, tmp_path):
    urls = [http.url(path) for path in ("/status/404", "/status/503", "/cut/300/bytes/1000", "/bytes/10")] + ["http://nowhere.invalid/x"]
    found = list(warmwire.fetch_many(urls, to=tmp_path, retries=0))
    assert len(found) == 5 and [one.url for one in found if one.path] == [http.url("/bytes/10")]
    assert [one.name for one in tmp_path.iterdir()] == ["3-10"]
    batches = list(warmwire.fetch_batches(urls[:2], to=tmp_path / "kept", retries=0, store_errors=True))
    assert sorted(path for batch in batches for path in batch.column("path").to_pylist()) == [
        str(tmp_path / "kept" / name) for name in ("0-404", "1-503")
    ]


def test_a_body_from_text_files(http):
    assert warmwire.post(http.url("/body"), content=io.StringIO("letters")).content == b"letters"
