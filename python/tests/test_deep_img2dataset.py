"""img2dataset unchanged beside img2dataset with our transfers, and ours on servers that misbehave."""

import contextlib
import json
import pathlib
import socket
import subprocess
import sys
import threading
import time

import pytest
import warmwire
from sites import Site, answer

parquet = pytest.importorskip("pyarrow.parquet", reason="is missing: pyarrow")

pytestmark = pytest.mark.deep
HERE = pathlib.Path(__file__).parent
ENVIRONMENT = pathlib.Path(sys.prefix).parent / "img2dataset"
TIMEOUT, DEADLINE, LARGEST = 2, 5, 1_000_000


def job(kind, cwd, program=(str(HERE / "img2dataset_job.py"),), **how):
    """Runs the program with img2dataset's Python; returns what it prints."""
    python = ENVIRONMENT / "bin" / "python"
    if not (ENVIRONMENT / "installed").exists():
        pytest.skip("is missing: img2dataset (tests/install.sh img2dataset)")
    package = str(pathlib.Path(warmwire.__file__).parents[1])
    words = [python, *program, *([kind, json.dumps(how)] if kind else [])]
    environment = {"PYTHONPATH": package, "PATH": "/usr/bin:/bin", "HOME": str(cwd), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=cwd, timeout=240, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def fetched(kind, folder, urls, **how):
    """Runs a whole job; returns its rows by URL, and the seconds of its slowest shard."""
    folder.mkdir(exist_ok=True)
    (folder / "urls.txt").write_text("\n".join(urls) + "\n")
    bounds = {"deadline": DEADLINE, "max_bytes": LARGEST} if kind == "ours" else {}
    given = {"url_list": str(folder / "urls.txt"), "output_folder": str(folder / "out"), "timeout": TIMEOUT, **bounds, **how}
    job(kind, folder, **given)
    parts = sorted((folder / "out").glob("*.parquet"))
    rows = [row for part in parts for row in parquet.read_table(part).to_pylist()]
    stats = [json.loads(path.read_text()) for path in (folder / "out").glob("*_stats.json")]
    assert len(rows) == len(urls) == sum(one["count"] for one in stats)
    return {row["url"]: row for row in rows}, max(one["duration"] for one in stats)


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
    job("images", folder, folder=str(folder), count=48)
    return {path.name: path.read_bytes() for path in folder.glob("*.*")}


@contextlib.contextmanager
def unanswered():
    """A port whose queue of connections is full: packets to it get no answer."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as server, contextlib.ExitStack() as held:
        for _ in range(4):
            client = held.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(server.getsockname())
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def closed_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"http://127.0.0.1:{server.getsockname()[1]}"


class Gallery:
    """A reply with pictures, and with what is wrong with those of others."""

    def __init__(self, pictures):
        self.pictures, self.over = pictures, threading.Event()

    def __call__(self, handler):
        with contextlib.suppress(OSError):
            self.reply(handler, *handler.path.partition("?")[0].strip("/").split("/"))

    def reply(self, handler, kind, name="", *rest):
        if kind == "picture":
            answer(handler, self.pictures[name])
        elif kind == "hops":
            to = f"/hops/{int(name) - 1}/{rest[0]}" if int(name) else f"/picture/{rest[0]}"
            answer(handler, b"moved", 302 if int(name) % 2 else 308, Location=to)
        elif kind == "away":
            answer(handler, b"", 301, Location=f"{self.other}/picture/{name}")
        elif kind == "loop":
            answer(handler, b"", 302, Location=f"/loop/{int(name) + 1}")
        elif kind == "status":
            answer(handler, b"sorry", int(name))
        elif kind == "robots":
            answer(handler, self.pictures["0.jpg"], X_Robots_Tag=name)
        elif kind == "cut":
            handler.send_response(200)
            handler.send_header("Content-Length", str(len(self.pictures["0.jpg"])))
            handler.end_headers()
            handler.wfile.write(self.pictures["0.jpg"][:-20])
            handler.close_connection = True
        elif kind == "text":
            answer(handler, b"no picture")
        elif kind == "none":
            answer(handler, b"")
        elif kind == "silent":
            self.over.wait(60)
            handler.close_connection = True
        elif kind == "closed":
            handler.close_connection = True
        else:
            self.endless(handler, kind)

    def endless(self, handler, kind):
        """A body without end, slow or fast, and a head without end."""
        handler.send_response(200)
        if kind != "heads":
            handler.end_headers()
        handler.wfile.flush()
        piece = {"drip": b"x", "flood": b"x" * 65536, "heads": b"X-Field: x\r\n"}[kind]
        while not self.over.is_set():
            handler.wfile.write(piece)
            handler.wfile.flush()
            if kind != "flood":
                time.sleep(0.1)
        handler.close_connection = True


@pytest.fixture
def gallery(pictures):
    made = Gallery(pictures)
    made.site, made.second = Site(made), Site(made)
    made.root, made.other = made.site.root, made.second.root
    yield made
    made.over.set()


BAD = [
    *(f"/status/{code}" for code in (403, 404, 410, 500, 503)),
    *("/robots/noai", "/robots/img2dataset:%20noimageai", "/robots/all", "/cut", "/text", "/none", "/loop/0"),
]


@pytest.mark.parametrize("form", ["files", "webdataset", "parquet"])
def test_outputs_are_those_of_img2dataset(gallery, pictures, tmp_path, form):
    good = [f"{gallery.root}/picture/{name}" for name in pictures]
    good += [f"{gallery.root}/hops/{count}/{name}" for count, name in zip((0, 1, 2, 5), pictures)]
    good += [f"{gallery.root}/away/{name}" for name in list(pictures)[:5]]
    good += [f"{gallery.root}/picture/0.jpg?a=b&c=%20#part"]
    bad = [gallery.root + path for path in BAD] + ["http://nowhere.invalid/a", closed_port() + "/a", "nonsense", "http:///x", "a:b"]
    how = {"output_format": form, "image_size": 64, "thread_count": 16, "number_sample_per_shard": 30, "processes_count": 2}
    better = [f"http://user@{gallery.root[7:]}/picture/1.png"]  # urllib takes the user for a part of the name
    theirs, _ = fetched("own", tmp_path / "own", good + bad + better, **how)
    ours, _ = fetched("ours", tmp_path / "ours", good + bad + better, **how)
    assert sum(row["status"] == "success" for row in theirs.values()) >= len(good)
    for url, row in theirs.items():
        if row["status"] == "success" or "HTTP Error" in (row["error_message"] or "") or "/robots/" in url or url.endswith("/text"):
            if "/loop/" not in url:
                assert ours[url] == row
        assert ours[url]["status"] == ("success" if url in better else row["status"]), url
    if form == "parquet":
        return
    # The pictures and all that is beside them; statistics have times, and parquet was compared by its rows.
    def contents(kind):
        root = tmp_path / kind / "out"
        if form == "files":
            return {str(path.relative_to(root)): path.read_bytes() for path in root.glob("*/*.jpg")}
        import tarfile

        with contextlib.ExitStack() as opened:
            files = [opened.enter_context(tarfile.open(path)) for path in sorted(root.glob("*.tar"))]
            return {member.name: file.extractfile(member).read() for file in files for member in file if member.name.endswith("jpg")}

    own, found = contents("own"), contents("ours")
    assert len(own) >= len(good) and {name: found.get(name) for name in own} == own


def test_nobody_waits_for_those_who_misbehave(gallery, pictures, tmp_path):
    good = [f"{gallery.other}/picture/{name}?{turn}" for turn in range(5) for name in pictures]
    endless = [f"{gallery.root}/{kind}/{number}" for kind in ("drip", "flood", "heads") for number in range(8)]
    with unanswered() as nobody:
        dead = [f"{nobody}/{number}" for number in range(100)]
        unknown = [f"http://nowhere.invalid/{number}" for number in range(100)]
        urls = [url for group in zip(dead, unknown, good[:100]) for url in group] + endless + good[100:]
        rows, seconds = fetched("ours", tmp_path / "ours", urls, thread_count=32, output_format="files", image_size=32)
    assert all(rows[url]["status"] == "success" for url in good)
    reasons = {kind: {rows[f"{gallery.root}/{kind}/{number}"]["error_message"] for number in range(8)} for kind in ("drip", "flood", "heads")}
    assert reasons["drip"] == {"not complete within 5 seconds"}
    assert reasons["flood"] == {"larger than 1000000 bytes"}
    assert len(reasons["heads"]) == 1 and not any(rows[url]["status"] == "success" for url in endless)
    assert {rows[url]["error_message"] for url in dead} == {"no connection within 2 seconds"}
    assert len({rows[url]["error_message"] for url in unknown}) == 1
    # The endless take the deadline; that nobody answers was waited for once, and beside it.
    assert seconds < 2 * DEADLINE


def test_a_silent_host_is_given_up(gallery, tmp_path):
    silent = [f"{gallery.root}/silent/{number}" for number in range(200)]
    good = [f"{gallery.other}/picture/0.jpg?{number}" for number in range(20)]
    rows, seconds = fetched("ours", tmp_path / "ours", silent + good, thread_count=64, per_host=16, image_size=32)
    assert all(rows[url]["status"] == "success" for url in good)
    assert {rows[url]["error_message"] for url in silent} == {"nothing received for 2 seconds"}
    assert len(gallery.site.seen) <= 8 + 16 and seconds < 3 * TIMEOUT + 1


def test_workers_share_what_they_learn_of_hosts(gallery, tmp_path):
    closed = [f"{gallery.root}/closed/{number}" for number in range(400)]
    how = {"processes_count": 2, "number_sample_per_shard": 50, "thread_count": 8, "per_host": 4, "image_size": 32}
    rows, _ = fetched("ours", tmp_path / "ours", closed, **how)
    assert len({row["error_message"] for row in rows.values()}) == 1
    # Eight shards; without the list each would try eight times and what is then under way.
    assert len(gallery.site.seen) <= 2 * (8 + 4)
    assert not (tmp_path / "ours" / "out" / "_tmp").exists()


def test_a_new_run_tries_hosts_anew(gallery, tmp_path):
    left = tmp_path / "ours" / "out" / "_tmp"
    left.mkdir(parents=True)
    (left / "warmwire-dead-hosts.jsonl").write_text(json.dumps([gallery.root, "dead when a run was killed"]) + "\n")
    rows, _ = fetched("ours", tmp_path / "ours", [f"{gallery.root}/picture/0.jpg"], image_size=32)
    assert [row["status"] for row in rows.values()] == ["success"]


def test_files_of_the_machine_are_not_read(gallery, pictures, tmp_path):
    (tmp_path / "secret.jpg").write_bytes(pictures["0.jpg"])
    urls = [f"file://{tmp_path}/secret.jpg", f"{gallery.root}/picture/0.jpg"]
    rows, _ = fetched("ours", tmp_path / "ours", urls, image_size=32)
    assert [rows[url]["status"] for url in urls] == ["failed_to_download", "success"]


def test_what_came_during_a_pause_is_kept(gallery, pictures, tmp_path):
    urls = [f"{gallery.root}/picture/{name}" for name in pictures]
    printed = job("slow", tmp_path, pause=3, urls=urls, timeout=1, deadline=2, output_folder=str(tmp_path / "out"))
    assert int(printed.splitlines()[-1]) == len(urls)


def test_few_names_at_a_time_are_looked_up(tmp_path):
    assert json.loads(job("names", tmp_path, hosts=100)) == [[32, 0.01], [32, 0.01], [32, 0.01], [4, 60.0]]


def test_command_line_and_bad_arguments(gallery, tmp_path):
    (tmp_path / "urls.txt").write_text(f"{gallery.root}/picture/0.jpg\n")
    words = ["-m", "warmwire.img2dataset", "--url_list=urls.txt", "--output_folder=out", "--image_size=16", "--deadline=9"]
    job(None, tmp_path, words)
    assert (tmp_path / "out" / "00000" / "000000000.jpg").exists()
    refused = "from warmwire.img2dataset import Bounds, _with_names\n" + "".join(
        f"try:\n    {call}\n    raise SystemExit('nothing was raised')\nexcept {error} as error:\n    print(error)\n"
        for call, error in (("Bounds(deadline=0)", "ValueError"), ("_with_names(print.__class__ and (lambda: 0), Pool=1)", "RuntimeError"))
    )
    assert "img2dataset 1.47.0 has no Pool to replace" in job(None, tmp_path, ["-c", refused])


def test_the_program_of_the_guide_runs(gallery, pictures, tmp_path):
    program = HERE.parents[1] / "docs" / "guide" / "examples" / "pictures.py"
    (tmp_path / "urls.txt").write_text("".join(f"{gallery.root}/picture/{name}\n" for name in pictures))
    (tmp_path / "program.py").write_text(program.read_text())
    job(None, tmp_path, ["program.py"])
    assert len(list((tmp_path / "pictures").glob("*/*.jpg"))) == len(pictures)
