"""img2dataset with its own downloader and with ours: pictures of many hosts, some of which misbehave.

usage: images.py PYTHON [--urls N] [--theirs N] [--hosts N] [--endless SECONDS] [--parts PART ...]; PYTHON has img2dataset and
warmwire. ``--theirs`` lets img2dataset alone do the first N URLs only. Writes IMAGES.md beside it when all of it was run. nginx
serves every host; a name server of ours answers for them, in a network and a mount namespace of their own. 2 % of the hosts are
dead, half of them without an address and half without an answer. 10 % of the URLs are redirects, and the bodies of 2 % take as long
as ``--endless`` says: if they had no end, img2dataset alone would have none, either.
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import resource
import socket
import socketserver
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).parent
SHARD, THREADS, TIMEOUT, DEADLINE = 10_000, 256, 10, 20
NOBODY = "127.0.9.9"
"""An address whose port takes no more connections."""
CONFIG = """
user root; daemon off; worker_processes 1; worker_rlimit_nofile 65536; pid {folder}/pid; error_log {folder}/errors;
events {{ worker_connections 32768; }}
http {{
    access_log off; sendfile on; keepalive_requests 1000000; types {{ image/jpeg jpg; }}
    client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
    uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
    server {{
        listen 127.0.0.1:80 backlog=4096; root {folder};
        location /picture/ {{ try_files /picture.jpg =404; }}
        location /moved/ {{ rewrite ^/moved/(.*)$ /picture/$1 redirect; }}
        location /endless/ {{ limit_rate {rate}; postpone_output 0; sendfile off; try_files /picture.jpg =404; }}
    }}
}}
"""
CONTENDERS = ("img2dataset", "warmwire")
PARTS = {"fetching": "Fetching alone", "job": "The whole job, resized to 256 x 256 and written as webdataset"}


class Names(socketserver.BaseRequestHandler):
    """Answers questions for addresses (RFC 1035): none for names that begin with ``none``, and nobody's for ``dead``."""

    def handle(self):
        question, to = self.request
        end = question.index(b"\0", 12) + 5
        first, kind = question[13 : 13 + question[12]].lower(), question[end - 3]
        address = b"" if kind != 1 or first.startswith(b"none") else NOBODY if first.startswith(b"dead") else "127.0.0.1"
        answers = b"\xc0\x0c\0\1\0\1\0\0\x0e\x10\0\4" + socket.inet_aton(address) if address else b""
        flags = b"\x81\x83" if first.startswith(b"none") else b"\x81\x80"
        head = question[:2] + flags + b"\0\1" + (b"\0\1" if answers else b"\0\0") + b"\0\0\0\0"
        to.sendto(head + question[12:end] + answers, self.client_address)


@contextlib.contextmanager
def site(endless):
    """The servers, and the folder that they serve."""
    with tempfile.TemporaryDirectory(prefix="bench-") as name, contextlib.ExitStack() as held:
        folder = pathlib.Path(name)
        (folder / "resolv.conf").write_text("nameserver 127.0.0.1\noptions timeout:2 attempts:1\n")
        for words in (["ip", "link", "set", "lo", "up"], ["mount", "--bind", f"{name}/resolv.conf", "/etc/resolv.conf"]):
            subprocess.run(words, check=True)
        names = socketserver.UDPServer(("127.0.0.1", 53), Names)
        names.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 * 2**20)
        threading.Thread(target=names.serve_forever, daemon=True).start()
        nobody = held.enter_context(socket.create_server((NOBODY, 80), backlog=0))
        for _ in range(4):
            client = held.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(nobody.getsockname())
        size = (folder / "picture.jpg").write_bytes(sys.stdin.buffer.read())
        config = folder / "config"
        config.write_text(CONFIG.format(folder=folder, rate=max(1, size // endless)))
        server = subprocess.Popen(["nginx", "-c", str(config), "-p", name, "-e", f"{name}/errors"])
        try:
            for _ in range(100):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", 80)):
                    break
                time.sleep(0.05)
            yield folder
        finally:
            server.terminate()
            server.wait()


def urls_of(count, hosts):
    """The URLs, the same in each run, and how many of them bring a picture to who waits for it."""
    chance = random.Random(1)
    dead = hosts // 50
    names = [f"{'none' if n % 2 else 'dead'}{n}.bench" if n < dead else f"host{n}.bench" for n in range(hosts)]
    kinds = ["endless"] * (count // 50) + ["moved"] * (count // 10)
    kinds += ["picture"] * (count - len(kinds))
    chance.shuffle(kinds)
    # Those of dead hosts among them.
    urls = [f"http://{names[n % hosts]}/{kind}/{n}.jpg" for n, kind in enumerate(kinds)]
    chance.shuffle(urls)
    return urls, sum("//host" in url and "/endless/" not in url for url in urls)


class NoResizer:
    """Takes each picture as it is."""

    def __call__(self, stream, boxes):
        return stream.read(), 1, 1, 1, 1, None


def work(contender, part, folder, list_of_urls):
    """Does all shards as a worker process of img2dataset does them; prints seconds, CPU seconds and successes."""
    import img2dataset.downloader
    import pyarrow
    from img2dataset.resizer import Resizer
    from img2dataset.writer import DummySampleWriter, WebDatasetSampleWriter

    kind, bounds = img2dataset.downloader.Downloader, {}
    if contender == "warmwire":
        from warmwire.img2dataset import Bounds
        from warmwire.img2dataset import Downloader as kind  # noqa: N813

        bounds = {"bounds": Bounds(deadline=DEADLINE)}
    output = pathlib.Path(folder)
    (output / "_tmp").mkdir(parents=True)
    urls = json.loads(pathlib.Path(list_of_urls).read_text())
    shards = []
    for number in range(0, len(urls), SHARD):
        shards.append((number // SHARD, str(output / "_tmp" / f"{number}.feather")))
        table = pyarrow.table({"url": urls[number : number + SHARD]})
        with pyarrow.ipc.new_file(shards[-1][1], table.schema) as file:
            file.write_table(table)
    sizes = ("border", False, "lanczos", "area", 95, "jpg", False)
    writer, resizer = (WebDatasetSampleWriter, Resizer(256, *sizes)) if part == "job" else (DummySampleWriter, NoResizer())
    hash_kind = "sha256" if part == "job" else None
    downloader = kind(
        writer, resizer, THREADS, False, part == "job", str(output), ["url"], TIMEOUT, SHARD, 5, hash_kind, None, "jpg", 0, None,
        {"noai", "noimageai", "noindex", "noimageindex"}, **bounds,
    )  # fmt: skip

    def cpu():
        used = resource.getrusage(resource.RUSAGE_SELF)
        return used.ru_utime + used.ru_stime

    began, cpu_began = time.perf_counter(), cpu()
    done = [downloader(shard)[0] for shard in shards]
    seconds, cpu_seconds = time.perf_counter() - began, cpu() - cpu_began
    stats = [json.loads(path.read_text()) for path in output.glob("*_stats.json")]
    if not all(done) or sum(one["count"] for one in stats) != len(urls):
        raise SystemExit(f"{contender}: not all shards were done")
    print(json.dumps([seconds, cpu_seconds, sum(one["successes"] for one in stats)]))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("python")
    parser.add_argument("--urls", type=int, default=100_000)
    parser.add_argument("--theirs", type=int)
    parser.add_argument("--hosts", type=int, default=20_000)
    parser.add_argument("--endless", type=int, default=30)
    parser.add_argument("--parts", nargs="*", default=list(PARTS), choices=list(PARTS))
    given = parser.parse_args()
    urls, good = urls_of(given.urls, given.hosts)
    lines = ["# img2dataset with its own downloader and with ours", ""]
    lines += [f"`make bench-images`; {given.urls:,} URLs over {given.hosts:,} hosts, {THREADS} at a time in one process, {TIMEOUT} s."]
    lines += [f"{good:,} of them bring a picture at once; an endless body takes {given.endless} s, ours gives up after {DEADLINE}.", ""]
    lines += ["CPU is the worker's alone, without its imports. A hundred million: CPU hours for as many URLs.", ""]
    counts = {"img2dataset": given.theirs or given.urls, "warmwire": given.urls}
    with site(given.endless) as folder:
        for contender, count in counts.items():
            (folder / f"urls-{contender}").write_text(json.dumps(urls[:count]))
        for part in given.parts:
            lines += [f"## {PARTS[part]}", "", "| | URLs | seconds | CPU seconds | pictures | pictures a CPU second | a hundred million |"]
            lines += ["|---|---:|---:|---:|---:|---:|---:|"]
            for contender in CONTENDERS:
                words = [given.python, __file__, "--work", contender, part, str(folder / contender / part), str(folder / f"urls-{contender}")]
                done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True, stdin=subprocess.DEVNULL)
                seconds, cpu, count = json.loads(done.stdout.splitlines()[-1])
                hours = 1e8 * cpu / counts[contender] / 3600
                row = f"{counts[contender]:,} | {seconds:,.1f} | {cpu:,.1f} | {count:,} | {count / cpu:,.0f} | {hours:,.0f}"
                lines.append(f"| {contender} | {row} |")
                print(lines[-1], flush=True)
            lines.append("")
    if given.parts == list(PARTS) and given.urls == parser.get_default("urls"):
        (HERE / "IMAGES.md").write_text("\n".join(lines))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(*sys.argv[2:])
    elif "BENCH_APART" in os.environ:
        main()
    else:
        # Another Python has what makes a picture.
        make = "import cv2, numpy, sys; p = numpy.random.default_rng(1).integers(0, 256, (8, 8, 3), dtype='uint8')\n"
        make += "sys.stdout.buffer.write(cv2.imencode('.jpg', cv2.resize(p, (320, 240)))[1].tobytes())"
        picture = subprocess.run([sys.argv[1], "-c", make], stdout=subprocess.PIPE, check=True).stdout
        words = ["unshare", "-rnm", sys.executable, *sys.argv]
        done = subprocess.run(words, input=picture, check=False, env={**os.environ, "BENCH_APART": "1"})
        sys.exit(done.returncode)
