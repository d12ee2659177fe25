"""Documented behaviours of requests and httpx: each case runs on the package itself and on our shim, with one result."""

import asyncio
import io
import pickle
import re
import socket
import threading

import httpx
import pytest
import requests
import warmwire.compat.httpx
import warmwire.compat.requests
from compat_site import site as started

CLOSED = "http://127.0.0.1:1/"


@pytest.fixture(scope="module")
def root():
    return started().root


def result(run, lib, root):
    try:
        return run(lib, root)
    except Exception as error:
        return f"raises {type(error).__name__}"


def echoed(reply):
    """What the server got, but for the fields that name the package."""
    found = reply.json()
    found["headers"].pop("user-agent", None)
    return found


# ---- requests
def session(lib, **settings):
    made = lib.Session()
    for name, value in settings.items():
        held = getattr(made, name)
        held.update(value) if isinstance(value, dict) and name != "params" else setattr(made, name, value)
    return made


def hooked(lib, root):
    seen = []
    lib.get(root + "/json", hooks={"response": lambda reply, *args, **kwargs: seen.append(reply.status_code)})
    return seen


def prepared(lib, root):
    made = lib.Session()
    request = made.prepare_request(lib.Request("POST", root + "/echo", data={"a": "1"}, headers={"X-Mine": "1"}))
    request.body = "changed=1"
    request.headers["Content-Length"] = "9"
    return (request.method, request.url == root + "/echo", echoed(made.send(request)))


def own_auth(lib, root):
    class Token(lib.auth.AuthBase):
        def __call__(self, request):
            request.headers["X-Mine"] = "token"
            return request

    return echoed(lib.get(root + "/echo", auth=Token()))


def cookie_session(lib, root):
    made = lib.Session()
    made.get(root + "/set")
    return (dict(made.cookies), echoed(made.get(root + "/echo"))["headers"].get("cookie"), dict(lib.get(root + "/set").cookies))


def streamed(lib, root):
    with lib.get(root + "/size/1000", stream=True) as reply:
        return [len(piece) for piece in reply.iter_content(300)]


def read_twice(lib, root):
    reply = lib.get(root + "/size/1000", stream=True)
    list(reply.iter_content(100))
    return list(reply.iter_content(100))


def status_error(lib, root):
    try:
        lib.get(root + "/status/404").raise_for_status()
    except lib.exceptions.HTTPError as error:
        return (error.response.status_code, re.sub(r"Error: .* for url", "Error for url", str(error)), error.request is not None)


def encoded_by(lib, root):
    reply = lib.get(root + "/latin")
    reply.encoding = "utf-8"
    return reply.text


def bases(lib, root):
    names = "ConnectionError ConnectTimeout ReadTimeout HTTPError Timeout TooManyRedirects MissingSchema InvalidSchema InvalidURL".split()
    names += "SSLError ProxyError ChunkedEncodingError ContentDecodingError InvalidHeader StreamConsumedError JSONDecodeError".split()
    kinds = [getattr(lib.exceptions, name) for name in names]
    return [[base.__name__ for base in kind.__mro__ if "exceptions" in base.__module__ and "urllib3" not in base.__module__] for kind in kinds]


def multipart(lib, root):
    return echoed(lib.post(root + "/echo", files={"f": ("name.txt", b"some", "text/plain")}, data={"a": "1"}))


def file_upload(lib, root):
    return echoed(lib.post(root + "/echo", files={"f": ("name.txt", io.BytesIO(b"some"))}))


def generator(lib, root):
    return echoed(lib.post(root + "/echo", data=iter([b"one", b"two"])))


def history(lib, root):
    reply = lib.get(root + "/to/302/to/301/echo")
    return ([hop.status_code for hop in reply.history], [hop.url.removeprefix(root) for hop in reply.history], reply.url == root + "/echo")


def following(lib, root):
    reply = lib.get(root + "/to/301/json", allow_redirects=False)
    return (reply.status_code, reply.is_redirect, reply.is_permanent_redirect, reply.next.url.removeprefix(root), reply.history)


def pickled(lib, root):
    reply = pickle.loads(pickle.dumps(lib.get(root + "/json")))
    return (reply.status_code, reply.content, reply.json())


def raw(lib, root):
    with lib.get(root + "/size/100", stream=True) as reply:
        return (len(reply.raw.read(10)), reply.raw.read(0))


REQUESTS = {
    "a get has status, reason and ok": lambda r, u: [getattr(r.get(u + "/json"), n) for n in ("status_code", "reason", "ok")],
    "json is parsed": lambda r, u: r.get(u + "/json").json(),
    "no json raises": lambda r, u: r.get(u + "/text").json(),
    "no json is a ValueError": lambda r, u: issubclass(r.exceptions.JSONDecodeError, ValueError),
    "text by charset": lambda r, u: r.get(u + "/latin").text,
    "encoding of charset": lambda r, u: r.get(u + "/latin").encoding,
    "encoding of bare text": lambda r, u: r.get(u + "/bare").encoding,
    "encoding of nothing": lambda r, u: r.get(u + "/size/1").encoding,
    "encoding of json": lambda r, u: r.get(u + "/json").encoding,
    "unknown charset": lambda r, u: r.get(u + "/wrong").text,
    "encoding can be set": encoded_by,
    "content is bytes": lambda r, u: r.get(u + "/text").content,
    "gzip is decoded": lambda r, u: r.get(u + "/gzip").content,
    "broken gzip": lambda r, u: r.get(u + "/broken").content,
    "repr": lambda r, u: repr(r.get(u + "/json")),
    "a 404 is false": lambda r, u: bool(r.get(u + "/status/404")),
    "headers in any case": lambda r, u: r.get(u + "/json").headers["CONTENT-type"],
    "headers.get": lambda r, u: r.get(u + "/json").headers.get("x-none"),
    "headers compare": lambda r, u: r.structures.CaseInsensitiveDict({"A": "b"}) == {"a": "b"},
    "headers keep names": lambda r, u: list(r.structures.CaseInsensitiveDict({"Ab": "b"})),
    "params": lambda r, u: echoed(r.get(u + "/echo", params={"a": "1", "b": ["2", "3"], "none": None})),
    "params of pairs": lambda r, u: echoed(r.get(u + "/echo", params=[("a", 1), ("a", 2)])),
    "params of text": lambda r, u: echoed(r.get(u + "/echo", params="a=1&b")),
    "params of bytes": lambda r, u: echoed(r.get(u + "/echo", params=b"a=1")),
    "params behind a query": lambda r, u: echoed(r.get(u + "/echo?x=y", params={"a": "ü ö"})),
    "params with a fragment": lambda r, u: r.get(u + "/echo#part", params={"a": True}).url.removeprefix(u),
    "url with spaces": lambda r, u: echoed(r.get(u + "/echo?a b")),
    "url with umlauts": lambda r, u: r.get(u + "/echo/ü").url.removeprefix(u),
    "headers are sent": lambda r, u: echoed(r.get(u + "/echo", headers={"X-Mine": "1", "Accept": "text/x"})),
    "a header of a number": lambda r, u: r.get(u + "/echo", headers={"X-Mine": 1}),
    "a header with a break": lambda r, u: r.get(u + "/echo", headers={"X-Mine": "a\nb"}),
    "a header of None": lambda r, u: echoed(r.get(u + "/echo", headers={"Accept": None}))["method"],
    "a user agent": lambda r, u: r.get(u + "/echo", headers={"User-Agent": "mine"}).json()["headers"]["user-agent"],
    "form data": lambda r, u: echoed(r.post(u + "/echo", data={"a": "b c", "d": ["1", "2"]})),
    "form of pairs": lambda r, u: echoed(r.post(u + "/echo", data=[("a", "1"), ("a", "2")])),
    "data of text": lambda r, u: echoed(r.post(u + "/echo", data="text"))["body"],
    "data of bytes": lambda r, u: echoed(r.post(u + "/echo", data=b"\0raw")),
    "data of a file": lambda r, u: echoed(r.post(u + "/echo", data=io.BytesIO(b"file"))),
    "data of a generator": generator,
    "json is sent": lambda r, u: echoed(r.post(u + "/echo", json={"a": [1, None]})),
    "json beside data": lambda r, u: echoed(r.post(u + "/echo", data={"a": "1"}, json={"b": 2})),
    "json of nan": lambda r, u: r.post(u + "/echo", json=float("nan")),
    "an empty post": lambda r, u: echoed(r.post(u + "/echo")),
    "multipart": multipart,
    "multipart of a file": file_upload,
    "put": lambda r, u: echoed(r.put(u + "/echo", data=b"x")),
    "patch": lambda r, u: echoed(r.patch(u + "/echo", data=b"x")),
    "delete": lambda r, u: echoed(r.delete(u + "/echo")),
    "options": lambda r, u: echoed(r.options(u + "/echo"))["method"],
    "head": lambda r, u: (r.head(u + "/size/7").content, r.head(u + "/size/7").headers["content-length"]),
    "head follows nothing": lambda r, u: r.head(u + "/to/302/json").status_code,
    "redirects are followed": history,
    "redirects are not": following,
    "a 303 gets": lambda r, u: echoed(r.post(u + "/to/303/echo", data=b"x")),
    "a 302 gets after post": lambda r, u: echoed(r.post(u + "/to/302/echo", data=b"x")),
    "a 307 keeps": lambda r, u: echoed(r.post(u + "/to/307/echo", data=b"x")),
    "too many redirects": lambda r, u: r.get(u + "/loop"),
    "max_redirects": lambda r, u: session(r, max_redirects=1).get(u + "/to/302/to/302/json"),
    "raise_for_status": status_error,
    "raise_for_status of 200": lambda r, u: r.get(u + "/json").raise_for_status(),
    "raise_for_status of 500": lambda r, u: r.get(u + "/status/500").raise_for_status(),
    "codes": lambda r, u: (r.codes.ok, r.codes.not_found, r.codes.teapot, r.codes["created"], r.codes.NOT_FOUND),
    "basic": lambda r, u: r.get(u + "/basic", auth=("me", "secret")).text,
    "basic by class": lambda r, u: r.get(u + "/basic", auth=r.auth.HTTPBasicAuth("me", "secret")).text,
    "basic of the url": lambda r, u: r.get(u.replace("//", "//me:secret@") + "/basic").text,
    "a wrong login": lambda r, u: r.get(u + "/basic", auth=("me", "wrong")).status_code,
    "an auth of one's own": own_auth,
    "cookies are sent": lambda r, u: echoed(r.get(u + "/echo", cookies={"a": "1", "b": "2"})),
    "cookies of a session": cookie_session,
    "cookies of redirects": lambda r, u: echoed(session(r).get(u + "/set-to")),
    "session headers": lambda r, u: echoed(session(r, headers={"X-Client": "1"}).get(u + "/echo", headers={"X-Mine": "2"})),
    "session header off": lambda r, u: echoed(session(r, headers={"X-Client": "1"}).get(u + "/echo", headers={"X-Client": None})),
    "session params": lambda r, u: echoed(session(r, params={"all": "1"}).get(u + "/echo", params={"a": "2"})),
    "session auth": lambda r, u: session(r, auth=("me", "secret")).get(u + "/basic").text,
    "prepared": prepared,
    "hooks": hooked,
    "links": lambda r, u: r.get(u + "/links").links,
    "streamed": streamed,
    "lines": lambda r, u: list(r.get(u + "/lines", stream=True).iter_lines()),
    "lines of text": lambda r, u: list(r.get(u + "/lines").iter_lines(decode_unicode=True)),
    "content in pieces": lambda r, u: [len(piece) for piece in r.get(u + "/size/10").iter_content(4)],
    "read twice": read_twice,
    "raw": raw,
    "pickled": pickled,
    "elapsed": lambda r, u: r.get(u + "/json").elapsed.total_seconds() > 0,
    "request of a reply": lambda r, u: (lambda q: (q.method, q.url == u + "/json", q.body))(r.get(u + "/json").request),
    "a timeout": lambda r, u: r.get(u + "/slow", timeout=0.2),
    "a pair of timeouts": lambda r, u: r.get(u + "/slow", timeout=(3, 0.2)),
    "a triple of timeouts": lambda r, u: r.get(u + "/json", timeout=(3, 0.2, 1)),
    "nobody listens": lambda r, u: r.get(CLOSED),
    "an unknown host": lambda r, u: r.get("http://nowhere.invalid/"),
    "no scheme": lambda r, u: r.get("127.0.0.1/"),
    "a foreign scheme": lambda r, u: r.get("nonsense://host/"),
    "no host": lambda r, u: r.get("http://"),
    "a bad label": lambda r, u: r.get("http://*.example/"),
    "exceptions": bases,
}


# ---- httpx
def streaming(lib, root):
    with lib.stream("GET", root + "/size/1000") as reply:
        before = result(lambda lib, root: reply.content, lib, root)
        return (before, [len(piece) for piece in reply.iter_bytes(300)])


def stream_read(lib, root):
    with lib.stream("GET", root + "/size/10") as reply:
        reply.read()
        return (reply.content, reply.text)


def stream_twice(lib, root):
    with lib.stream("GET", root + "/size/10") as reply:
        list(reply.iter_bytes())
        return list(reply.iter_bytes())


def raised(lib, root, path):
    try:
        return lib.get(root + path).raise_for_status().status_code
    except lib.HTTPStatusError as error:
        first = re.sub(r"'(\d+) [^']*'", r"'\1'", str(error).replace(root, "").split("\n")[0])
        return (error.response.status_code, error.request.method, first)


def client_hooks(lib, root):
    seen = []
    hooks = {"request": [lambda request: seen.append((request.method, str(request.url).removeprefix(root)))], "response": [lambda r: seen.append(r.status_code)]}
    with lib.Client(event_hooks=hooks) as client:
        client.get(root + "/json")
    return seen


def mocked(lib, root):
    def handler(request):
        return lib.Response(200, json={"path": request.url.path, "method": request.method})

    with lib.Client(transport=lib.MockTransport(handler)) as client:
        return client.post("https://h.example/x").json()


def mounted(lib, root):
    mock = lib.MockTransport(lambda request: lib.Response(200, text="mock"))
    with lib.Client(mounts={"http://h.example": mock, "all://*.other.example": mock}) as client:
        return (client.get("http://h.example/").text, client.get("http://a.other.example/").text, client.get(root + "/json").status_code)


def closed(lib, root):
    client = lib.Client()
    client.close()
    return client.get(root + "/json")


def asynchronous(lib, root):
    import asyncio

    async def main():
        async with lib.AsyncClient() as client:
            reply = await client.post(root + "/echo", json={"a": 1})
            async with client.stream("GET", root + "/size/10") as streamed:
                pieces = [len(piece) async for piece in streamed.aiter_bytes(4)]
            return (echoed(reply), pieces)

    return asyncio.run(main())


def jar(lib, root):
    with lib.Client(cookies={"given": "1"}) as client:
        client.get(root + "/set")
        return (sorted(client.cookies.items()), sorted(echoed(client.get(root + "/echo"))["headers"]["cookie"].split("; ")))


def built(lib, root):
    with lib.Client(headers={"X-Client": "1"}) as client:
        request = client.build_request("POST", root + "/echo", params={"a": "1"}, json={"b": 2})
        request.headers["X-Mine"] = "2"
        return (request.method, str(request.url).removeprefix(root), echoed(client.send(request)))


def next_of(lib, root):
    reply = lib.get(root + "/to/302/json")
    return (reply.status_code, reply.is_redirect, reply.has_redirect_location, reply.next_request.method, str(reply.next_request.url).removeprefix(root))


def kinds_of(lib, root):
    names = "ConnectTimeout ReadTimeout WriteTimeout PoolTimeout ConnectError ReadError WriteError ProxyError UnsupportedProtocol".split()
    names += "RemoteProtocolError LocalProtocolError DecodingError TooManyRedirects HTTPStatusError InvalidURL StreamConsumed ResponseNotRead".split()
    return [[base.__name__ for base in getattr(lib, name).__mro__] for name in names]


def client_get(path, **settings):
    def run(lib, root):
        with lib.Client(**{name: value(lib, root) if callable(value) else value for name, value in settings.items()}) as client:
            return echoed(client.get(root + path if "base_url" not in settings else path))

    return run


HTTPX = {
    "status and reason": lambda x, u: [getattr(x.get(u + "/json"), n) for n in ("status_code", "reason_phrase", "http_version")],
    "kinds of status": lambda x, u: [getattr(x.get(u + "/status/404"), n) for n in ("is_success", "is_error", "is_client_error", "is_server_error")],
    "json": lambda x, u: x.get(u + "/json").json(),
    "no json": lambda x, u: x.get(u + "/text").json(),
    "text": lambda x, u: (x.get(u + "/latin").text, x.get(u + "/text").text, x.get(u + "/bare").text),
    "encoding": lambda x, u: (x.get(u + "/latin").encoding, x.get(u + "/bare").encoding, x.get(u + "/latin").charset_encoding),
    "unknown charset": lambda x, u: x.get(u + "/wrong").text,
    "content": lambda x, u: x.get(u + "/text").content,
    "gzip": lambda x, u: x.get(u + "/gzip").content,
    "broken gzip": lambda x, u: x.get(u + "/broken").content,
    "repr": lambda x, u: repr(x.get(u + "/json")),
    "headers": lambda x, u: (x.get(u + "/json").headers["CONTENT-type"], x.get(u + "/json").headers.get("x")),
    "headers of pairs": lambda x, u: x.Headers([("A", "1"), ("a", "2")]).get_list("a"),
    "url": lambda x, u: (lambda url: (str(url), url.host, url.path, url.query))(x.get(u + "/json?a=1").url)[2:],
    "params": lambda x, u: echoed(x.get(u + "/echo", params={"a": "1", "b": ["2", "3"], "t": True, "n": None})),
    "params of pairs": lambda x, u: echoed(x.get(u + "/echo", params=[("a", "1"), ("a", "2")])),
    "params replace a query": lambda x, u: echoed(x.get(u + "/echo?x=y", params={"a": "ü ö"})),
    "headers are sent": lambda x, u: echoed(x.get(u + "/echo", headers={"X-Mine": "1"})),
    "a user agent": lambda x, u: x.get(u + "/echo", headers={"user-agent": "mine"}).json()["headers"]["user-agent"],
    "form": lambda x, u: echoed(x.post(u + "/echo", data={"a": "b c", "d": ["1", "2"], "t": True})),
    "content of bytes": lambda x, u: echoed(x.post(u + "/echo", content=b"\0raw")),
    "content of text": lambda x, u: echoed(x.post(u + "/echo", content="text"))["body"],
    "content of a generator": lambda x, u: echoed(x.post(u + "/echo", content=iter([b"a", b"b"]))),
    "json is sent": lambda x, u: echoed(x.post(u + "/echo", json={"a": [1, None, "ü"]}))["headers"],
    "multipart": lambda x, u: echoed(x.post(u + "/echo", files={"f": ("n.txt", b"some", "text/plain")}, data={"a": "1"})),
    "an empty post": lambda x, u: echoed(x.post(u + "/echo")),
    "put": lambda x, u: echoed(x.put(u + "/echo", content=b"x")),
    "patch": lambda x, u: echoed(x.patch(u + "/echo", content=b"x")),
    "delete": lambda x, u: echoed(x.delete(u + "/echo")),
    "options": lambda x, u: echoed(x.options(u + "/echo"))["method"],
    "head": lambda x, u: (x.head(u + "/size/7").content, x.head(u + "/size/7").headers["content-length"]),
    "a method of one's own": lambda x, u: x.request("GET", u + "/json").status_code,
    "redirects are not followed": next_of,
    "redirects are": lambda x, u: [hop.status_code for hop in x.get(u + "/to/302/to/301/json", follow_redirects=True).history],
    "a 303 gets": lambda x, u: echoed(x.post(u + "/to/303/echo", content=b"x", follow_redirects=True)),
    "a 307 keeps": lambda x, u: echoed(x.post(u + "/to/307/echo", content=b"x", follow_redirects=True)),
    "too many redirects": lambda x, u: x.get(u + "/loop", follow_redirects=True),
    "raise_for_status of 404": lambda x, u: raised(x, u, "/status/404"),
    "raise_for_status of 302": lambda x, u: raised(x, u, "/to/302/json"),
    "raise_for_status of 200": lambda x, u: raised(x, u, "/json"),
    "raise_for_status of 500": lambda x, u: raised(x, u, "/status/500"),
    "codes": lambda x, u: (int(x.codes.OK), int(x.codes.NOT_FOUND), x.codes.OK == 200),
    "basic": lambda x, u: x.get(u + "/basic", auth=("me", "secret")).text,
    "basic by class": lambda x, u: x.get(u + "/basic", auth=x.BasicAuth("me", "secret")).text,
    "basic of the url": lambda x, u: x.get(u.replace("//", "//me:secret@") + "/basic").text,
    "a wrong login": lambda x, u: x.get(u + "/basic", auth=("me", "wrong")).status_code,
    "client auth": lambda x, u: x.Client(auth=("me", "secret")).get(u + "/basic").text,
    "cookies are sent": lambda x, u: echoed(x.Client(cookies={"a": "1"}).get(u + "/echo")),
    "cookies of a reply": lambda x, u: x.get(u + "/set").cookies["kept"],
    "cookies of a client": jar,
    "client headers": client_get("/echo", headers={"X-Client": "1"}),
    "client params": client_get("/echo?a=1", params={"all": "1"}),
    "base url": client_get("echo", base_url=lambda x, u: u),
    "base url with a path": client_get("/1", base_url=lambda x, u: u + "/echo/"),
    "a request that is built": built,
    "hooks": client_hooks,
    "a mock": mocked,
    "mounts": mounted,
    "links": lambda x, u: x.get(u + "/links").links,
    "streamed": streaming,
    "streamed and read": stream_read,
    "streamed twice": stream_twice,
    "lines": lambda x, u: list(x.get(u + "/lines").iter_lines()),
    "text in pieces": lambda x, u: list(x.get(u + "/size/10").iter_text(4)),
    "elapsed": lambda x, u: x.get(u + "/json").elapsed.total_seconds() > 0,
    "request of a reply": lambda x, u: (lambda q: (q.method, q.headers["accept"], str(q.url) == u + "/json"))(x.get(u + "/json").request),
    "a timeout": lambda x, u: x.get(u + "/slow", timeout=0.2),
    "a Timeout": lambda x, u: x.get(u + "/slow", timeout=x.Timeout(5, read=0.2, write=0.2)),
    "Timeout prints": lambda x, u: (repr(x.Timeout(5)), repr(x.Timeout(5, read=None))),
    "Timeout wants all": lambda x, u: x.Timeout(connect=1),
    "nobody listens": lambda x, u: x.get(CLOSED),
    "an unknown host": lambda x, u: x.get("http://nowhere.invalid/"),
    "no scheme": lambda x, u: x.get("127.0.0.1/"),
    "a foreign scheme": lambda x, u: x.get("nonsense://host/"),
    "a number as url": lambda x, u: x.get(5),
    "a bad port": lambda x, u: x.get("http://host:port/"),
    "a closed client": closed,
    "asyncio": asynchronous,
    "exceptions": kinds_of,
    "urls": lambda x, u: (str(x.URL("https://h/a?b=1").copy_merge_params({"c": "2"})), str(x.URL("https://h/a/b").join("../c")), x.URL("https://h:8/").port),
    "query params": lambda x, u: (str(x.QueryParams({"a": [1, 2]})), x.QueryParams("a=1&a=2").get_list("a"), str(x.QueryParams("a=1").set("a", 3))),
    "a reply of one's own": lambda x, u: (lambda r: (r.status_code, r.text, r.headers["content-type"]))(x.Response(201, text="é")),
    "a json reply": lambda x, u: (lambda r: (r.json(), r.headers["content-type"]))(x.Response(200, json={"a": 1})),
}


DIFFERENT = {
    # curl guesses a part's type by the name of the file.
    "multipart of a file",
}
UNEXPECTED = ("AttributeError", "NameError", "KeyError", "AssertionError")


@pytest.mark.parametrize("name", REQUESTS)
def test_requests(root, name):
    theirs, ours = (result(REQUESTS[name], lib, root) for lib in (requests, warmwire.compat.requests))
    assert (ours == theirs) == (name not in DIFFERENT), (ours, theirs)
    assert str(theirs).removeprefix("raises ") not in UNEXPECTED


@pytest.mark.parametrize("name", HTTPX)
def test_httpx(root, name):
    theirs, ours = (result(HTTPX[name], lib, root) for lib in (httpx, warmwire.compat.httpx))
    assert ours == theirs
    assert str(theirs).removeprefix("raises ") not in UNEXPECTED


def test_the_table_is_large():
    assert len(REQUESTS) + len(HTTPX) >= 150


def test_each_exception_has_the_code_of_curl(root):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    for lib in (warmwire.compat.requests, warmwire.compat.httpx):
        kinds = lib.exceptions if hasattr(lib, "exceptions") else lib
        error = kinds.ConnectionError if hasattr(kinds, "ConnectionError") else kinds.ConnectError
        with pytest.raises(error) as raised:
            lib.get(f"http://127.0.0.1:{port}/")
        assert raised.value.code == 7


def test_a_cookie_with_a_domain_goes_to_no_other_host(root):
    x, r = warmwire.compat.httpx, warmwire.compat.requests
    for domain, sent in (("127.0.0.1", "secret=1"), ("elsewhere.example", None)):
        jar, theirs = x.Cookies(), r.cookies.RequestsCookieJar()
        jar.set("secret", "1", domain=domain)
        theirs.set("secret", "1", domain=domain)
        with x.Client(cookies=jar) as client:
            found = [echoed(client.get(root + "/echo"))]
        with x.Client() as client:
            found.append(echoed(client.get(root + "/echo", cookies=jar)))
        made = r.Session()
        made.cookies.update(theirs)
        found += [echoed(r.get(root + "/echo", cookies=theirs)), echoed(made.get(root + "/echo"))]
        assert [one["headers"].get("cookie") for one in found] == [sent] * 4


# ---- Settings that the engine has to be prepared for.
class Counting:
    """Answers requests on connections that stay open, and counts the connections; it listens from the start or later."""

    def __init__(self, listens=True):
        self.accepted = 0
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.root = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        if listens:
            self.listen()

    def listen(self):
        self.listener.listen()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            connection = self.listener.accept()[0]
            self.accepted += 1
            threading.Thread(target=self.answer, args=(connection,), daemon=True).start()

    @staticmethod
    def answer(connection):
        with connection, connection.makefile("rb") as requests_in:
            for line in requests_in:
                if line == b"\r\n":
                    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")


def visited(fetch, servers):
    """Fetches from each server, one after the other, twice; returns how many connections each accepted."""
    for server in servers * 2:
        assert fetch(server.root).status_code == 200
    return [server.accepted for server in servers]


@pytest.mark.parametrize("most, accepted", [(0, [2, 2]), (1, [2, 2]), (2, [1, 1]), (None, [1, 1])])
def test_idle_connections_are_limited(most, accepted):
    lib = warmwire.compat.httpx
    limits = lib.Limits(max_keepalive_connections=most)
    with lib.Client(limits=limits) as client:
        assert visited(client.get, [Counting(), Counting()]) == accepted
    with lib.Client(transport=lib.HTTPTransport(limits=limits)) as client:
        assert visited(client.get, [Counting(), Counting()]) == accepted
    pool = warmwire.Client(pool=warmwire.Pool(max_idle=most))
    assert visited(pool.get, [Counting(), Counting()]) == accepted

    async def main():
        servers = [Counting(), Counting()]
        async with lib.AsyncClient(limits=limits) as client:
            for server in servers * 2:
                await client.get(server.root)
        return [server.accepted for server in servers]

    assert asyncio.run(main()) == accepted


def test_a_pool_takes_no_negative_limit():
    with pytest.raises(ValueError, match="max_idle is at least 0"):
        warmwire.Pool(max_idle=-1)


def test_a_transport_repeats_a_failed_connect(monkeypatch):
    lib = warmwire.compat.httpx
    server, delays = Counting(listens=False), []

    def sleep(seconds):
        delays.append(seconds)
        if len(delays) == 2:
            server.listen()

    async def later(seconds):
        sleep(seconds)

    monkeypatch.setattr(lib.time, "sleep", sleep)
    with lib.Client(transport=lib.HTTPTransport(retries=1)) as client, pytest.raises(lib.ConnectError):
        client.get(server.root)
    assert delays == [0.0]
    delays.clear()
    with lib.Client(transport=lib.HTTPTransport(retries=3)) as client:
        assert client.get(server.root).status_code == 200
    assert delays == [0.0, 0.5] and server.accepted == 1

    async def main():
        async with lib.AsyncClient(transport=lib.AsyncHTTPTransport(retries=3)) as client:
            return (await client.get(server.root)).status_code

    server = Counting(listens=False)
    delays.clear()
    monkeypatch.setattr(lib.asyncio, "sleep", later)
    assert asyncio.run(main()) == 200 and delays == [0.0, 0.5]


@pytest.mark.parametrize("how", [{"uds": "/socket"}, {"local_address": "127.0.0.1"}, {"socket_options": []}])
def test_a_setting_of_a_transport_without_effect_raises(how):
    with pytest.raises(TypeError, match=f"a transport's {next(iter(how))} cannot be honoured"):
        warmwire.compat.httpx.HTTPTransport(**how)


def test_retries_of_a_mounted_transport_raise():
    lib = warmwire.compat.httpx
    with pytest.raises(TypeError, match="retries of a mounted transport"):
        lib.Client(mounts={"https://": lib.HTTPTransport(retries=1)})
