"""The examples in docstrings, run against a server in this process."""

import asyncio
import doctest
import inspect
import os
import ssl

import pytest
import warmwire
import warmwire.easy
import warmwire.s3
import warmwire.store
from sites import Site, answer

MODULES = (warmwire, warmwire.easy, warmwire.s3, warmwire.store)


def documented():
    """Yields name and object of everything public that a docstring should show in use."""
    for name in warmwire.__all__:
        value = getattr(warmwire, name)
        if isinstance(value, str) or inspect.isclass(value) and issubclass(value, Exception) and value is not warmwire.RequestError:
            continue
        yield name, value
    for name, value in vars(warmwire.Client).items():
        if not name.startswith("_") and callable(value):
            yield f"Client.{name}", value
    for name in warmwire.easy.__all__:
        yield f"easy.{name}", getattr(warmwire.easy, name)


# A protocol, and a method whose use stands at the class.
WITHOUT = {"Transport", "Client.close"}


def test_every_public_item_has_an_example():
    missing = [name for name, value in documented() if name not in WITHOUT and ">>> " not in (inspect.getdoc(value) or "")]
    assert not missing


def echo(handler):
    length = int(handler.headers.get("Content-Length", 0))
    body = handler.rfile.read(length)
    if "chunked" in handler.headers.get("Transfer-Encoding", ""):
        while size := int(handler.rfile.readline(), 16):
            body += handler.rfile.read(size)
            handler.rfile.readline()
        handler.rfile.readline()
    answer(handler, body or b"some content", Content_Type="text/plain; charset=utf-8")


@pytest.fixture(scope="module")
def site():
    return Site(echo)


def examples():
    finder = doctest.DocTestFinder(exclude_empty=True, recurse=True)
    owners = [*MODULES, *(getattr(warmwire, name) for name in warmwire.__all__)]
    found = {}
    for owner in owners:
        if isinstance(owner, str):
            continue
        for test in finder.find(owner, globs={}):
            if test.examples:
                found[test.name] = test
    return list(found.values())


@pytest.mark.parametrize("test", examples(), ids=lambda test: test.name)
def test_an_example(site, test, tmp_path, monkeypatch):
    if "fetch_batches" in test.name:
        pytest.importorskip("pyarrow", reason="is missing: pyarrow")
    monkeypatch.chdir(tmp_path)
    local = site.root + "/"
    for example in test.examples:
        example.source = example.source.replace("https://example.com/", local)
        example.want = example.want.replace("https://example.com/", local)
    test.globs = {"warmwire": warmwire, "asyncio": asyncio, "ssl": ssl, "os": os}
    said = []
    result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=said.append)
    assert result.attempted and not result.failed, "".join(said)
