"""A server for the table of cases: what it got as JSON, and replies of each kind."""

import base64
import gzip
import json
import time

from sites import Site, answer

KEPT = ("accept", "authorization", "content-type", "cookie", "x-mine", "x-client", "user-agent", "referer")


def body_of(handler):
    if "chunked" in handler.headers.get("Transfer-Encoding", ""):
        body = b""
        while size := int(handler.rfile.readline(), 16):
            body += handler.rfile.read(size)
            handler.rfile.readline()
        handler.rfile.readline()
        return body
    return handler.rfile.read(int(handler.headers.get("Content-Length", 0)))


def echo(handler, body):
    rows = {name.lower(): value for name, value in handler.headers.items() if name.lower() in KEPT}
    if "multipart" in rows.get("content-type", ""):
        mark = rows["content-type"].rpartition("boundary=")[2]
        body, rows["content-type"] = body.replace(mark.encode(), b"MARK"), "multipart/form-data"
    found = {"method": handler.command, "path": handler.path, "headers": rows, "body": body.decode("latin-1")}
    answer(handler, json.dumps(found).encode(), Content_Type="application/json")


def guarded(handler, body):
    right = "Basic " + base64.b64encode(b"me:secret").decode()
    ok = handler.headers.get("Authorization") == right
    answer(handler, b"welcome" if ok else b"no", 200 if ok else 401, **({} if ok else {"WWW_Authenticate": 'Basic realm="r"'}))


def redirected(handler, body):
    _, _, status, there = handler.path.split("/", 3)
    answer(handler, b"moved", int(status), Location="/" + there)


def sized(handler, body):
    answer(handler, b"x" * int(handler.path.rsplit("/", 1)[1]))


REPLIES = {
    "echo": echo,
    "basic": guarded,
    "to": redirected,
    "size": sized,
    "loop": lambda handler, body: answer(handler, b"", 302, Location="/loop"),
    "status": lambda handler, body: answer(handler, b"body", int(handler.path.rsplit("/", 1)[1])),
    "json": lambda handler, body: answer(handler, b'{"a":[1,"\xc3\xbc"]}', Content_Type="application/json"),
    "text": lambda handler, body: answer(handler, "größe".encode(), Content_Type="text/plain; charset=utf-8"),
    "latin": lambda handler, body: answer(handler, "größe".encode("latin-1"), Content_Type="text/plain; charset=iso-8859-1"),
    "bare": lambda handler, body: answer(handler, b"plain", Content_Type="text/plain"),
    "wrong": lambda handler, body: answer(handler, b"x", Content_Type="text/plain; charset=nonsense"),
    "lines": lambda handler, body: answer(handler, b"one\ntwo\r\n\nfour", Content_Type="text/plain; charset=utf-8"),
    "gzip": lambda handler, body: answer(handler, gzip.compress(b"zipped"), Content_Encoding="gzip"),
    "broken": lambda handler, body: answer(handler, b"not zipped", Content_Encoding="gzip"),
    "links": lambda handler, body: answer(handler, b"", Link='<http://h.example/2>; rel="next", <http://h.example/9>; rel="last"'),
    "set": lambda handler, body: answer(handler, b"", Set_Cookie="kept=yes; Path=/"),
    "set-to": lambda handler, body: answer(handler, b"", 302, Set_Cookie="hop=1; Path=/", Location="/echo"),
    "slow": lambda handler, body: (time.sleep(3), answer(handler, b"late")),
}


def reply(handler):
    body = body_of(handler)
    REPLIES.get(handler.path.split("/")[1].split("?")[0], lambda handler, body: answer(handler, b"none", 404))(handler, body)


def site():
    return Site(reply)
