"""Programs after the subjects of the quick starts of requests and httpx, run on each and on our shims: they print the same."""

import subprocess
import sys

import pytest
from compat_site import site

REQUESTS = '''
import requests
from requests.auth import HTTPBasicAuth
from requests.exceptions import ConnectionError, HTTPError, Timeout

reply = requests.get(ROOT + "/json")
print(reply.status_code, reply.headers["Content-Type"], reply.encoding, reply.json())
print(reply.status_code == requests.codes.ok)
for call in (requests.post, requests.put, requests.patch):
    print(call(ROOT + "/echo", data={"key": "value"}).json()["body"])
print(requests.delete(ROOT + "/echo").json()["method"], requests.head(ROOT + "/size/5").headers["content-length"])
found = requests.get(ROOT + "/echo", params={"key1": "value1", "key2": ["a", "b"]})
print(found.url == ROOT + "/echo?key1=value1&key2=a&key2=b")
print(requests.get(ROOT + "/text").text, requests.get(ROOT + "/text").content)
reply = requests.get(ROOT + "/latin")
reply.encoding = "ISO-8859-1"
print(reply.text)
with requests.get(ROOT + "/size/100000", stream=True) as streamed, open("stored", "wb") as file:
    for chunk in streamed.iter_content(chunk_size=4096):
        file.write(chunk)
print(len(open("stored", "rb").read()))
print(requests.get(ROOT + "/echo", headers={"X-Mine": "1"}).json()["headers"]["x-mine"])
print(requests.post(ROOT + "/echo", json={"some": "data"}).json()["body"])
print(len(requests.post(ROOT + "/echo", files={"file": open("stored", "rb")}).json()["body"]) > 100000)
reply = requests.get(ROOT + "/status/404")
try:
    reply.raise_for_status()
except HTTPError as error:
    print("failed", error.response.status_code)
print(requests.get(ROOT + "/set").cookies["kept"], requests.get(ROOT + "/echo", cookies={"a": "b"}).json()["headers"]["cookie"])
reply = requests.get(ROOT + "/to/301/json")
print(reply.history, reply.url == ROOT + "/json")
print(requests.get(ROOT + "/to/301/json", allow_redirects=False).history)
for wrong, kind in ((ROOT + "/slow", Timeout), ("http://127.0.0.1:1/", ConnectionError)):
    try:
        requests.get(wrong, timeout=0.2)
    except kind as error:
        print(isinstance(error, requests.exceptions.RequestException), kind.__name__)
print(requests.get(ROOT + "/basic", auth=HTTPBasicAuth("me", "secret")).text)
with requests.Session() as session:
    session.headers.update({"X-Client": "1"})
    session.get(ROOT + "/set")
    session.mount(ROOT, requests.adapters.HTTPAdapter(max_retries=2))
    print(session.get(ROOT + "/echo").json()["headers"]["cookie"], session.get(ROOT + "/echo").json()["headers"]["x-client"])
    prepared = session.prepare_request(requests.Request("GET", ROOT + "/echo", params={"a": 1}))
    print(prepared.path_url, session.send(prepared, timeout=5).json()["path"])
print(requests.get(ROOT + "/links").links["next"]["url"])
print([line for line in requests.get(ROOT + "/lines", stream=True).iter_lines(decode_unicode=True) if line])
'''

HTTPX = '''
import asyncio
import httpx

reply = httpx.get(ROOT + "/json")
print(reply, reply.status_code, reply.headers["content-type"], reply.json(), reply.http_version)
for call in (httpx.post, httpx.put, httpx.patch):
    print(call(ROOT + "/echo", data={"key": "value"}).json()["body"])
print(httpx.delete(ROOT + "/echo").json()["method"], httpx.head(ROOT + "/size/5").headers["content-length"])
print(httpx.get(ROOT + "/echo", params={"key1": "value1", "key2": ["a", "b"]}).url.query)
print(httpx.get(ROOT + "/text").text, httpx.get(ROOT + "/text").encoding)
reply = httpx.get(ROOT + "/latin")
reply.encoding = "ISO-8859-1"
print(reply.text)
print(httpx.get(ROOT + "/echo", headers={"x-mine": "1"}).json()["headers"]["x-mine"])
print(httpx.post(ROOT + "/echo", json={"integer": 123, "list": ["a"]}).json()["body"])
print(httpx.post(ROOT + "/echo", content=b"Hello").json()["body"])
with httpx.stream("GET", ROOT + "/lines") as streamed:
    for line in streamed.iter_lines():
        print(repr(line))
with httpx.stream("GET", ROOT + "/size/1000") as streamed:
    if int(streamed.headers["Content-Length"]) < 5000:
        streamed.read()
        print(len(streamed.text))
with httpx.stream("GET", ROOT + "/size/5000") as streamed, open("stored", "wb") as file:
    for chunk in streamed.iter_bytes():
        file.write(chunk)
print(len(open("stored", "rb").read()))
with open("stored", "rb") as file:
    print(len(httpx.post(ROOT + "/echo", files={"upload": file}).json()["body"]) > 5000)
try:
    httpx.get(ROOT + "/status/404").raise_for_status()
except httpx.HTTPStatusError as error:
    print(error.response.status_code, error.request.method)
cookies = httpx.Cookies()
cookies.set("mine", "1", domain="127.0.0.1")
with httpx.Client(cookies=cookies) as client:
    print(client.get(ROOT + "/echo").json()["headers"].get("cookie"))
reply = httpx.get(ROOT + "/to/301/json", follow_redirects=True)
print(reply.history, str(reply.url) == ROOT + "/json")
try:
    httpx.get(ROOT + "/slow", timeout=0.2)
except httpx.RequestError as error:
    print(type(error).__name__, error.request.method)
try:
    httpx.get("http://127.0.0.1:1/")
except httpx.HTTPError as error:
    print(type(error).__name__)
print(httpx.get(ROOT + "/basic", auth=("me", "secret")).text)
auth = httpx.BasicAuth(username="me", password="secret")
with httpx.Client(base_url=ROOT, auth=auth, timeout=httpx.Timeout(10.0, connect=60.0), headers={"x-client": "1"}) as client:
    print(client.get("/basic").text, client.get("/echo").json()["headers"]["x-client"])
    request = client.build_request("GET", "/echo", params={"a": 1})
    print(request.method, client.send(request).json()["path"])

async def main():
    limits = httpx.Limits(max_keepalive_connections=5, max_connections=10)
    async with httpx.AsyncClient(limits=limits) as client:
        replies = await asyncio.gather(*(client.get(ROOT + f"/size/{n}") for n in range(5)))
        print([len(reply.content) for reply in replies])
        async with client.stream("GET", ROOT + "/size/10") as streamed:
            print(await streamed.aread())

        async def body():
            yield b"one"
            yield b"two"

        print((await client.post(ROOT + "/echo", content=body())).json()["body"])

asyncio.run(main())
transport = httpx.MockTransport(lambda request: httpx.Response(200, json={"text": "Hello"}))
print(httpx.Client(transport=transport).get("https://example.org/").json())
'''


def printed(program, root, folder):
    folder.mkdir(exist_ok=True)
    (folder / "program.py").write_text(f"ROOT = {root!r}\n{program}")
    done = subprocess.run([sys.executable, "program.py"], capture_output=True, text=True, timeout=120, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("name, program", [("requests", REQUESTS), ("httpx", HTTPX)])
def test_a_quick_start(name, program, tmp_path):
    root = site().root
    ours = program.replace(f"import {name}\n", f"import warmwire.compat.{name} as {name}\n").replace(f"from {name}.", f"from warmwire.compat.{name}.")
    assert ours != program
    theirs = printed(program, root, tmp_path / "theirs")
    assert len(theirs) > 20 and printed(ours, root, tmp_path / "ours") == theirs
