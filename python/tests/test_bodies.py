"""Bodies in place: whole, cut, longer or shorter than announced, kept after their response, and from many threads."""

import contextlib
import functools
import gc
import gzip
import os
import subprocess
import sys
import threading
import time

import pytest
import warmwire
from patterns import pattern as slow_pattern
from sites import Site, answer, breaking

pattern = functools.lru_cache(None)(slow_pattern)
SIZES = [0, 1, 32 * 1024 - 1, 32 * 1024, 32 * 1024 + 1, 256 * 1024, 256 * 1024 + 1, 1_000_000, 3_000_000]


def promising(length, body, then_closes=True):
    """A reply whose Content-Length is not the length of its body."""

    def reply(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", str(length))
        handler.end_headers()
        handler.wfile.write(body)
        handler.wfile.flush()
        handler.close_connection = then_closes

    return reply


def test_all_sizes_are_whole(http):
    urls = [http.url(f"/bytes/{size}") for size in SIZES]
    for one in warmwire.fetch_many(urls):
        assert type(one.content) is bytes and one.content == pattern(SIZES[one.index])
        assert one.response.num_bytes_downloaded == SIZES[one.index]
    for url, size in zip(urls, SIZES):
        reply = warmwire.get(url)
        assert reply.content == pattern(size) and hash(reply.content) == hash(pattern(size))


def test_a_body_is_one_object(http):
    reply = warmwire.get(http.url("/bytes/1000000"))
    assert reply.content is reply.content
    view = reply.view()
    assert view.obj is reply.content and view.readonly and len(view) == 1_000_000


def test_a_view_outlives_its_response(http):
    client = warmwire.Client(pool=warmwire.Pool())
    views = [client.get(http.url("/bytes/2000000")).view() for _ in range(5)]
    client.close()
    del client
    gc.collect()
    for _ in range(5):  # memory that was freed would be used again
        warmwire.get(http.url("/bytes/2000001"))
    assert all(view == pattern(2_000_000) for view in views)


@pytest.mark.parametrize("size", [100, 100_000, 3_000_000])
def test_a_body_shorter_than_announced_is_no_body(size):
    site = Site(promising(size, pattern(size)[: size // 2]))
    with pytest.raises(warmwire.IncompleteBody):
        warmwire.get(site.root)
    (found,) = warmwire.fetch_many([site.root], retries=0)
    assert isinstance(found.error, warmwire.IncompleteBody) and found.response is None


@pytest.mark.parametrize("size", [100, 100_000, 3_000_000])
def test_a_body_longer_than_announced_ends_where_it_was_announced(size):
    site = Site(promising(size, pattern(size) + b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfalse", then_closes=False))
    client = warmwire.Client(pool=warmwire.Pool())
    for _ in range(3):
        assert client.get(site.root).content == pattern(size)


def test_a_lie_costs_no_memory():
    """A server announces 60 MB, and terabytes, and sends a little: the client's memory stays as large as what has come."""
    peak = """
import sys, warmwire
def used():
    with open("/proc/self/status") as file:
        return int(next(line for line in file if line.startswith("VmHWM")).split()[1])
warmwire.fetch_many([])
before = used()
found = list(warmwire.fetch_many(sys.argv[1:], retries=0))
assert all(isinstance(one.error, warmwire.IncompleteBody) for one in found), found
print(used() - before)
"""
    sites = [Site(promising(length, pattern(50_000))) for length in (60_000_000, 2**40, 2**62)]
    urls = [f"{site.root}/{n}" for site in sites for n in range(20)]
    done = subprocess.run([sys.executable, "-c", peak, *urls], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 60_000, "kilobytes"


def test_large_bodies_lie_in_large_pages():
    """A body of 32 MB needs few page faults where the kernel has large pages."""
    with contextlib.suppress(OSError):
        if "[never]" not in open("/sys/kernel/mm/transparent_hugepage/enabled").read():
            return large_pages_save_faults()
    pytest.skip("the kernel has no large pages for programs")


def large_pages_save_faults():
    def refused():
        """Counts the large pages that the kernel could not give, to any program."""
        return sum(int(line.split()[1]) for line in open("/proc/vmstat") if line.startswith("thp_fault_fallback"))

    faults = """
import resource, sys, warmwire
client = warmwire.Client()
client.get(sys.argv[1] + "/bytes/1000000")
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
assert len(client.get(sys.argv[1] + "/bytes/32000000").content) == 32_000_000
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""
    body = bytes(32_000_000)
    site = Site(lambda handler: answer(handler, body[: int(handler.path.rpartition("/")[2])]))
    before = refused()
    done = subprocess.run([sys.executable, "-c", faults, site.root], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    if refused() > before:
        pytest.skip("the kernel had no free large page")
    assert int(done.stdout) < 32_000_000 / 4096 / 4


def test_what_came_before_a_cut_is_kept_for_the_rest():
    body = pattern(3_000_000)
    (found,) = warmwire.fetch_many([Site(breaking(body, 1_300_000)).root], retries=4)
    assert found.content == body and found.attempts == 3


def test_encoded_bodies_and_chunks_have_no_place():
    body = pattern(2_000_000)

    def reply(handler):
        if handler.path == "/gzip":
            return answer(handler, gzip.compress(body, 1), Content_Encoding="gzip")
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for at in range(0, len(body), 100_000):
            handler.wfile.write(b"186a0\r\n" + body[at : at + 100_000] + b"\r\n")
        handler.wfile.write(b"0\r\n\r\n")

    site = Site(reply)
    assert warmwire.get(site.root + "/gzip").content == body
    assert warmwire.get(site.root + "/chunks").content == body


def test_the_body_of_a_redirect_is_not_the_answer():
    def reply(handler):
        if handler.path == "/":
            answer(handler, b"moved" * 50_000, 302, Location="/there")
        else:
            answer(handler, pattern(400_000))

    assert warmwire.get(Site(reply).root + "/", follow_redirects=True).content == pattern(400_000)


def test_a_transfer_that_is_given_up_in_its_body():
    def reply(handler):
        if handler.path == "/small":
            return answer(handler, b"x")
        handler.send_response(200)
        handler.send_header("Content-Length", "30000000")
        handler.end_headers()
        with contextlib.suppress(OSError):
            for _ in range(200):
                handler.wfile.write(bytes(100_000))
                handler.wfile.flush()
                time.sleep(0.05)
        handler.close_connection = True

    site = Site(reply)
    for _ in range(10):
        many = warmwire.fetch_many([site.root + "/small", *[site.root + "/large"] * 4])
        assert next(many).content == b"x"
        many.close()


def test_threads_get_their_own(http):
    """Threads fetch bodies in place while others hold the interpreter's lock."""
    stop, wrong = threading.Event(), []

    def spin():
        while not stop.is_set():
            sum(range(1000))

    def fetch(number):
        size = 100_000 + number * 1000
        for _ in range(10):
            if warmwire.get(http.url(f"/bytes/{size}")).content != pattern(size):
                wrong.append(size)

    spinner = threading.Thread(target=spin)
    threads = [threading.Thread(target=fetch, args=(number,)) for number in range(8)]
    for thread in (spinner, *threads):
        thread.start()
    for thread in threads:
        thread.join()
    stop.set()
    spinner.join()
    assert wrong == []


def test_read_into_a_buffer(http):
    size, client = 700_001, warmwire.Client()
    buffer, whole = bytearray(100_000), b""
    with client.stream("GET", http.url(f"/bytes/{size}")) as reply:
        while count := reply.readinto(buffer):
            whole += buffer[:count]
        assert reply.readinto(buffer) == 0
    assert whole == pattern(size)
    reply = client.get(http.url("/bytes/10"))
    assert [reply.readinto(memoryview(buffer)[:4]) for _ in range(4)] == [4, 4, 2, 0]
    with pytest.raises((TypeError, ValueError)):
        client.get(http.url("/bytes/10")).readinto(b"not writable")


def test_views_of_the_pieces(http):
    with warmwire.Client().stream("GET", http.url("/bytes/700001")) as reply:
        views = list(reply.iter_views())
    assert all(type(view) is memoryview and view.readonly for view in views)
    assert b"".join(views) == pattern(700_001)
    assert [bytes(view) for view in warmwire.get(http.url("/bytes/10")).iter_views()] == [pattern(10)]


def test_bodies_written_to_files_are_no_objects(tmp_path):
    """With ``to``, bodies do not go through Python: memory does not grow by them."""
    peak = """
import sys, warmwire
def used():
    with open("/proc/self/status") as file:
        return int(next(line for line in file if line.startswith("VmHWM")).split()[1])
list(warmwire.fetch_many([sys.argv[1]], to=sys.argv[2]))
before = used()
found = list(warmwire.fetch_many([sys.argv[1]] * 3, to=sys.argv[2]))
assert all(one.ok and one.content == b"" for one in found)
print(used() - before)
"""
    site = Site(lambda handler: answer(handler, bytes(15_000_000)))
    words = [sys.executable, "-c", peak, site.root + "/file", str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 10_000, "kilobytes"
    assert sorted(os.path.getsize(tmp_path / name) for name in os.listdir(tmp_path)) == [15_000_000] * 3


def test_the_interpreter_ends_while_bodies_arrive():
    program = """
import sys, threading, time, warmwire
def fetch():
    while True:
        warmwire.get(sys.argv[1])
for _ in range(3):
    threading.Thread(target=fetch, daemon=True).start()
time.sleep(0.3)
"""
    site = Site(lambda handler: answer(handler, bytes(3_000_000)))
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", program, site.root], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
