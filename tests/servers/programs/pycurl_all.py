"""Easy and multi interfaces of pycurl, with select and with the socket interface; prints facts. argv[1]: base URL."""
import io
import os
import select
import sys
import time

import pycurl

base = sys.argv[1]
print(f"ours={int('warmwire' in pycurl.version.lower())}")


def easy(url, **options):
    handle, body = pycurl.Curl(), io.BytesIO()
    handle.setopt(pycurl.URL, url)
    handle.setopt(pycurl.WRITEDATA, body)
    handle.setopt(pycurl.CAINFO, os.environ["CA"])
    for name, value in options.items():
        handle.setopt(getattr(pycurl, name), value)
    return handle, body


handle, body = easy(base + "/bytes/5000")
handle.perform()
print(f"easy={len(body.getvalue())},{handle.getinfo(pycurl.RESPONSE_CODE)}")
handle.close()

handle, body = easy(os.environ["SECURE"], CAINFO=os.environ["CA"])
handle.perform()
print(f"secure={len(body.getvalue())}")
handle.close()

handle, body = easy(base + "/body", POSTFIELDS="x=1")
handle.perform()
print(f"post={body.getvalue()}")
handle.close()


def finish(multi, handles):
    good = 0
    while True:
        left, ended, failed = multi.info_read()
        good += len(ended)
        assert not failed, failed
        if not left:
            break
    total = 0
    for handle, body in handles:
        total += len(body.getvalue())
        multi.remove_handle(handle)
        handle.close()
    multi.close()
    return f"{good},{total}"


multi, handles = pycurl.CurlMulti(), [easy(base + "/bytes/1000") for _ in range(25)]
for handle, _ in handles:
    multi.add_handle(handle)
running = 1
while running:
    _, running = multi.perform()
    if running:
        multi.select(1.0)
print("multi=" + finish(multi, handles))

multi, handles = pycurl.CurlMulti(), [easy(base + "/bytes/1000") for _ in range(25)]
poller, deadline = select.poll(), [None]


def on_socket(what, fd, _multi, _data):
    if what == pycurl.POLL_REMOVE:
        poller.unregister(fd)
    else:
        bits = (select.POLLIN if what & pycurl.POLL_IN else 0) | (select.POLLOUT if what & pycurl.POLL_OUT else 0)
        poller.register(fd, bits)


def on_timer(timeout_ms):
    deadline[0] = None if timeout_ms < 0 else time.monotonic() + timeout_ms / 1000


multi.setopt(pycurl.M_SOCKETFUNCTION, on_socket)
multi.setopt(pycurl.M_TIMERFUNCTION, on_timer)
for handle, _ in handles:
    multi.add_handle(handle)
running = 1
while running:
    wait = 1000 if deadline[0] is None else max(0, int((deadline[0] - time.monotonic()) * 1000) + 1)
    for fd, events in poller.poll(min(wait, 1000)):
        bits = (pycurl.CSELECT_IN if events & select.POLLIN else 0) | (pycurl.CSELECT_OUT if events & select.POLLOUT else 0)
        bits |= pycurl.CSELECT_ERR if events & (select.POLLERR | select.POLLHUP) else 0
        _, running = multi.socket_action(fd, bits)
    if deadline[0] is not None and time.monotonic() >= deadline[0]:
        deadline[0] = None
        _, running = multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)
print("event=" + finish(multi, handles))

handle, _ = easy("http://127.0.0.1:1/")
try:
    handle.perform()
    print("refused=0")
except pycurl.error as error:
    print(f"refused={error.args[0]}")


class Stop:
    def write(self, data):
        return 0


handle, _ = easy(base + "/bytes/100000")
handle.setopt(pycurl.WRITEDATA, Stop())
try:
    handle.perform()
    print("raised=0")
except pycurl.error as error:
    print(f"raised={error.args[0]}")
