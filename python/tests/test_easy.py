"""Transfers by curl's options, and the examples."""

import pathlib
import subprocess
import sys

import pytest
import warmwire
from patterns import pattern
from warmwire.easy import Easy, Multi, options

EXAMPLES = pathlib.Path(__file__).parent.parent / "examples"


def test_options_and_infos(http):
    easy = Easy(URL=http.url("/bytes/100"), USERAGENT="me/1")
    assert easy.getinfo("RESPONSE_CODE") is None
    for _ in range(2):
        easy.perform()
        assert easy.body == pattern(100) and b"200" in easy.head
        assert (easy.getinfo("RESPONSE_CODE"), easy.getinfo("CURLINFO_SIZE_DOWNLOAD")) == (200, 100)
    assert easy.getinfo("NUM_CONNECTS") == 0
    easy.setopt("URL", http.url("/bytes/7"))
    easy.setopt("NOBODY", True)
    easy.perform()
    assert easy.body == b"" and easy.getinfo("CONTENT_LENGTH_DOWNLOAD") == 7
    easy.reset()
    with pytest.raises(warmwire.RequestError) as caught:
        easy.perform()
    assert caught.value.code == 3 and easy.getinfo("RESPONSE_CODE") == 0
    with pytest.raises(warmwire.OptionError):
        easy.setopt("NO_SUCH", 1)
    easy.setopt("URL", 7)
    with pytest.raises(warmwire.RequestError, match="URL"):
        easy.perform()
    with pytest.raises(ValueError, match="EFFECTIVE_URL"):
        easy.getinfo("NO_SUCH")
    assert {"URL", "HTTPHEADER", "SSH_PRIVATE_KEYFILE"} <= set(options())


def test_callbacks(http):
    parts, heads = [], []
    easy = Easy(URL=http.url("/bytes/3000000"))
    easy.write, easy.header = parts.append, heads.append
    easy.perform()
    assert b"".join(parts) == pattern(3_000_000) and len(parts) > 1 and easy.body == b"" and len(heads) == 1

    def refuse(piece):
        raise ValueError("enough")

    easy.write = refuse
    with pytest.raises(ValueError, match="enough"):
        easy.perform()


def test_many_and_one_broken_off(http):
    multi = Multi()
    handles = [Easy(URL=http.url(f"/bytes/{size}")) for size in range(50)] + [Easy(URL="http://nowhere.invalid/")]
    endless = Easy(URL=http.url("/drip/1/1000/bytes/600"))
    for easy in [*handles, endless]:
        multi.add(easy)
    with pytest.raises(ValueError, match="under way"):
        multi.add(endless)
    found = []
    while multi.wait(1) > 1:
        found += multi.info_read()
    found += multi.info_read()
    multi.remove(endless)
    assert len(multi) == 0 and {easy for easy, _ in found} == set(handles)
    assert all(easy.body == pattern(size) for size, easy in enumerate(handles[:50]))
    assert [type(error) for _, error in found if error] == [warmwire.ResolveError]
    multi.add(endless)
    multi.close()


def run(name, *words):
    return subprocess.run([sys.executable, EXAMPLES / name, *words], capture_output=True, text=True, timeout=60, check=True).stdout


def test_examples(http):
    output = run("tutorial.py", http.root).splitlines()
    assert output[:3] == ["body 1000 status 200", "new connections 0", "pieces make 3000000"]
    assert output[3] == "sent 13" and output[4] == "posted 200 in True" and output[5].startswith("options True")
    urls = [http.url(f"/bytes/{size}") for size in range(5)] + ["http://nowhere.invalid/"]
    output = run("multi_socket.py", *urls).splitlines()
    assert output[:5] == [f"{url} 200 {size}" for size, url in enumerate(urls[:5])] and "(6 " in output[5]


# Objects in C: there is no text for them.
OBJECTS = {"STDERR", "SHARE", "ERRORBUFFER", "HTTPPOST", "MIMEPOST", "STREAM_DEPENDS", "STREAM_DEPENDS_E", "CURLU", "PRIVATE"}


def test_text_does_something_or_is_refused(http):
    """No option takes text and does nothing. What only another protocol shows, crates/client/tests/text_options.rs shows."""

    def seen(**values):
        easy = Easy(URL=http.url("/echo"), **values)
        try:
            easy.perform()
        except warmwire.RequestError as error:
            return error.code, str(error)
        return easy.getinfo("RESPONSE_CODE"), easy.body

    plain = seen()
    kinds = options()
    assert {name for name, kind in kinds.items() if kind == "Object"} == OBJECTS | {"POSTFIELDS", "COPYPOSTFIELDS"}
    for name in OBJECTS:
        with pytest.raises(warmwire.OptionError, match=name):
            Easy(URL=http.url("/echo"), **{name: "a=b"}).perform()
    for name in ("POSTFIELDS", "COPYPOSTFIELDS"):
        status, body = seen(**{name: "a=b"})
        assert status == 200 and body.startswith(b"POST /echo ") and body.endswith(b"\r\n\r\na=b"), name
    # Each with a value that shows over HTTP, in the request or in the answer.
    values = {
        "ACCEPT_ENCODING": "gzip",
        "COOKIE": "a=b",
        "CUSTOMREQUEST": "PURGE",
        "INTERFACE": "none0",
        "PROTOCOLS_STR": "ftp",
        "PROXY": "http://127.0.0.1:1",
        "RANGE": "1-2",
        "REFERER": "http://r/",
        "REQUEST_TARGET": "/echo?other",
        "UNIX_SOCKET_PATH": "/none",
        "USERAGENT": "me/1",
        "USERNAME": "u",
        "USERPWD": "u:p",
    }
    for name, value in values.items():
        assert kinds[name] == "String", name
        assert seen(**{name: value}) != plain, name
        assert seen(**{name: value.encode()}) != plain, name
    for name in ("TLSAUTH_USERNAME", "PROXY_TLSAUTH_PASSWORD", "KRBLEVEL"):
        assert seen(**{name: "text"})[0] in (4, 48), name
    for name, kind in kinds.items():
        if kind not in ("Object", "String", "Blob"):
            with pytest.raises(warmwire.OptionError):
                Easy(URL=http.url("/echo"), **{name: "text"}).perform()
