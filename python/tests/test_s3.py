"""The S3 file system: moto and boto3 beside it, credentials from each source, refusals, frames that are read through it."""

import asyncio
import contextlib
import itertools
import json
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from urllib.parse import parse_qs

import fsspec
import pytest
import warmwire
from patterns import pattern
from sites import Site, answer
from warmwire.s3 import CredentialsError, FileExpired, S3Denied, S3Error, S3Exists, S3FileSystem, S3NotFound

MIB = 2**20


class Moto:
    """A server of moto's in a process of its own: one in this process would share the interpreter's lock with the client."""

    def __init__(self):
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = probe.getsockname()[1]
        words = [sys.executable, "-c", "from moto.server import main; main()", "-H", "127.0.0.1", "-p", str(port)]
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.root = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return
            except OSError:
                assert self.process.poll() is None and time.monotonic() < deadline, "moto did not start"
                time.sleep(0.05)

    def stop(self):
        self.process.terminate()
        self.process.wait(20)


@pytest.fixture(scope="module")
def moto():
    pytest.importorskip("moto", reason="is missing: moto")
    server = Moto()
    yield server.root
    server.stop()


@pytest.fixture(scope="module")
def boto(moto):
    import boto3

    return boto3.client("s3", endpoint_url=moto, aws_access_key_id="a", aws_secret_access_key="b", region_name="us-east-1")


@pytest.fixture
def bucket(moto, boto, request):
    name = "bucket-" + request.node.name.lower().replace("_", "-").replace("[", "-").replace("]", "")[:50].strip("-")
    boto.create_bucket(Bucket=name)
    return name


@pytest.fixture
def fs(moto):
    S3FileSystem.clear_instance_cache()
    return S3FileSystem(key="a", secret="b", endpoint_url=moto)


@pytest.fixture
def no_environment(monkeypatch, tmp_path):
    """No credentials but those of a test: an empty home, no endpoint of an instance."""
    for name in list(os.environ):
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    S3FileSystem.clear_instance_cache()
    return monkeypatch


def test_what_is_written_is_what_boto3_reads(fs, boto, bucket, tmp_path):
    odd = "a/b c+d%20é&=?#~.txt"
    fs.pipe_file(f"s3://{bucket}/{odd}", b"odd", ContentType="text/plain", Metadata={"colour": "red"})
    found = boto.get_object(Bucket=bucket, Key=odd)
    assert (found["Body"].read(), found["ContentType"], found["Metadata"]) == (b"odd", "text/plain", {"colour": "red"})
    boto.put_object(Bucket=bucket, Key="its+own/ n%41me", Body=b"12345")
    assert fs.find(bucket) == [f"{bucket}/{odd}", f"{bucket}/its+own/ n%41me"]
    assert fs.cat_file(f"{bucket}/its+own/ n%41me", 1, -1) == b"234"
    assert fs.info(f"{bucket}/{odd}")["size"] == 3 and fs.isdir(f"{bucket}/a") and not fs.exists(f"{bucket}/b")
    assert fs.modified(f"{bucket}/{odd}").timestamp() == boto.head_object(Bucket=bucket, Key=odd)["LastModified"].timestamp()
    (tmp_path / "page.html").write_bytes(b"<p>")
    fs.put_file(str(tmp_path / "page.html"), f"{bucket}/page.html")
    assert boto.head_object(Bucket=bucket, Key="page.html")["ContentType"] == "text/html"
    with pytest.raises(S3NotFound, match="NoSuchKey"):
        fs.cat_file(f"{bucket}/none")
    with pytest.raises(FileNotFoundError, match="NoSuchBucket"):
        fs.ls("no-such-bucket-here")


def test_large_objects_go_in_parts(fs, boto, bucket, tmp_path):
    whole = pattern(6 * MIB + 5)
    fs.part_size = 5 * MIB
    fs.pipe_file(f"{bucket}/piped", whole)
    (tmp_path / "file").write_bytes(whole)
    fs.put_file(str(tmp_path / "file"), f"{bucket}/put")
    with fs.open(f"{bucket}/written", "wb", block_size=5 * MIB) as file:
        for at in range(0, len(whole), 700_001):
            file.write(whole[at : at + 700_001])
    for name in ("piped", "put", "written"):
        head = boto.head_object(Bucket=bucket, Key=name)
        assert head["ETag"].strip('"').endswith("-2"), name
        assert boto.get_object(Bucket=bucket, Key=name)["Body"].read() == whole, name
    with fs.open(f"{bucket}/written", "ab", block_size=5 * MIB) as file:
        assert file.tell() == len(whole)
        file.write(b"more")
    assert fs.cat_file(f"{bucket}/written", -6) == whole[-2:] + b"more"
    fs.get_file(f"{bucket}/put", tmp_path / "got")
    assert (tmp_path / "got").read_bytes() == whole
    # A failed upload, or one that an exception ends, leaves no object and no parts.
    with pytest.raises(RuntimeError), fs.open(f"{bucket}/left", "wb", block_size=5 * MIB) as file:
        file.write(whole)
        raise RuntimeError("in the middle")
    assert not fs.exists(f"{bucket}/left")
    assert not boto.list_multipart_uploads(Bucket=bucket).get("Uploads")
    assert S3FileSystem(key="a", secret="b", endpoint_url=fs.service.endpoint, part_size=5 * MIB).part_size == 5 * MIB
    with pytest.raises(ValueError, match="part_size"):
        S3FileSystem(part_size=1)


class Relay:
    """A relay to a server that ends each connection after so many bytes of the client; the counts follow each other in a circle."""

    def __init__(self, root, *after):
        host, port = root.removeprefix("http://").split(":")
        self.there, self.after = (host, int(port)), itertools.cycle(after)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.root = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.create_connection(self.there)
            threading.Thread(target=self.pass_on, args=(client, server, next(self.after)), daemon=True).start()
            threading.Thread(target=self.pass_on, args=(server, client, None), daemon=True).start()

    def pass_on(self, source, sink, left):
        try:
            while data := source.recv(65536 if left is None else min(65536, left)):
                sink.sendall(data)
                if left is not None:
                    left -= len(data)
                    if not left:
                        break
        except OSError:
            pass
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self):
        self.listener.close()


def open_uploads(boto, bucket):
    return [row["UploadId"] for row in boto.list_multipart_uploads(Bucket=bucket).get("Uploads", [])]


@pytest.fixture
def states(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "state" / "warmwire" / "uploads"
    return lambda: sorted(found.name for found in folder.glob("*")) if folder.exists() else []


def test_an_upload_that_is_cut_in_each_part_continues(moto, boto, bucket, tmp_path, states):
    whole = pattern(26 * MIB + 5)
    (tmp_path / "file").write_bytes(whole)
    # moto closes after each reply: a call begins or lists, sends one part, and is cut in the next.
    relay = Relay(moto, 8 * MIB, 8 * MIB, MIB)
    S3FileSystem.clear_instance_cache()
    fs = S3FileSystem(key="a", secret="b", endpoint_url=relay.root, part_size=5 * MIB, max_concurrency=1, retries=0)
    failures, numbers = 0, set()
    while True:
        try:
            fs.put_file(str(tmp_path / "file"), f"{bucket}/cut", resume=True)
            break
        except warmwire.RequestError:
            failures += 1
            assert failures < 20
            numbers.update(open_uploads(boto, bucket))
    relay.close()
    assert failures >= 4 and len(numbers) == 1, (failures, numbers)
    assert boto.get_object(Bucket=bucket, Key="cut")["Body"].read() == whole
    assert open_uploads(boto, bucket) == [] and states() == []


def test_a_process_that_is_killed_at_each_part_is_started_again(moto, boto, bucket, tmp_path, states):
    whole = pattern(26 * MIB + 5)
    (tmp_path / "file").write_bytes(whole)
    program = (
        "import sys; from warmwire.s3 import S3FileSystem\n"
        f"fs = S3FileSystem(key='a', secret='b', endpoint_url={moto!r}, part_size={5 * MIB}, max_concurrency=1,"
        f" client=dict(options=dict(MAX_SEND_SPEED_LARGE={40 * MIB})))\n"
        f"fs.put_file({str(tmp_path / 'file')!r}, '{bucket}/killed', resume=True)"
    )
    sent = []

    def parts():
        return {
            row["PartNumber"]: row["LastModified"]
            for number in open_uploads(boto, bucket)
            for row in boto.list_parts(Bucket=bucket, Key="killed", UploadId=number).get("Parts", [])
        }

    for wanted in range(1, 7):
        process = subprocess.Popen([sys.executable, "-c", program])
        while process.poll() is None and len(parts()) < wanted:
            time.sleep(0.005)
        process.kill()
        process.wait(20)
        sent.append(parts())
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
    assert boto.get_object(Bucket=bucket, Key="killed")["Body"].read() == whole
    assert open_uploads(boto, bucket) == [] and states() == []
    # A part that had arrived was not sent again.
    for before, after in zip(sent, sent[1:]):
        assert all(after.get(number, moment) == moment for number, moment in before.items())
    assert len(sent[3]) >= 3, "parts of killed processes are kept"


def test_what_is_there_is_trusted_by_its_digest_alone(fs, boto, bucket, tmp_path, states, monkeypatch):
    whole = pattern(16 * MIB)
    name = str(tmp_path / "file")
    (tmp_path / "file").write_bytes(whole)
    fs.part_size = 5 * MIB
    real = warmwire.s3._Parts.complete

    async def fails(*_):
        raise ConnectionError("before the end")

    monkeypatch.setattr(warmwire.s3._Parts, "complete", fails)
    with pytest.raises(ConnectionError):
        fs.put_file(name, f"{bucket}/a", resume=True)
    # Another program has written another part there.
    [number] = open_uploads(boto, bucket)
    boto.upload_part(Bucket=bucket, Key="a", UploadId=number, PartNumber=2, Body=b"x" * 5 * MIB)
    monkeypatch.setattr(warmwire.s3._Parts, "complete", real)
    sent = []
    send = warmwire.s3._Parts.send

    async def counted(self, number, content):
        sent.append(number)
        await send(self, number, content)

    monkeypatch.setattr(warmwire.s3._Parts, "send", counted)
    fs.put_file(name, f"{bucket}/a", resume=True)
    assert sent == [2] and boto.get_object(Bucket=bucket, Key="a")["Body"].read() == whole
    # A source that has changed begins anew, and nothing of the old upload stays.
    monkeypatch.setattr(warmwire.s3._Parts, "complete", fails)
    with pytest.raises(ConnectionError):
        fs.put_file(name, f"{bucket}/a", resume=True)
    monkeypatch.setattr(warmwire.s3._Parts, "complete", real)
    (tmp_path / "file").write_bytes(whole[::-1])
    os.utime(name, (1, 1))
    fs.put_file(name, f"{bucket}/a", resume=True)
    assert boto.get_object(Bucket=bucket, Key="a")["Body"].read() == whole[::-1]
    assert open_uploads(boto, bucket) == [] and states() == []


def test_an_upload_whose_end_was_not_noticed_is_not_repeated(fs, boto, bucket, tmp_path, states, monkeypatch):
    (tmp_path / "file").write_bytes(pattern(11 * MIB))
    fs.part_size = 5 * MIB
    monkeypatch.setattr(warmwire.s3.Kept, "forget", lambda _: None)
    fs.put_file(str(tmp_path / "file"), f"{bucket}/a", resume=True)
    monkeypatch.undo()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert len(states()) == 1
    before = boto.head_object(Bucket=bucket, Key="a")["LastModified"]
    fs.put_file(str(tmp_path / "file"), f"{bucket}/a", resume=True)
    assert boto.head_object(Bucket=bucket, Key="a")["LastModified"] == before and states() == []
    # One that somebody has aborted begins anew.
    boto.delete_object(Bucket=bucket, Key="a")
    monkeypatch.setattr(warmwire.s3.Kept, "forget", lambda _: None)
    fs.put_file(str(tmp_path / "file"), f"{bucket}/a", resume=True)
    boto.delete_object(Bucket=bucket, Key="a")
    monkeypatch.undo()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    fs.put_file(str(tmp_path / "file"), f"{bucket}/a", resume=True)
    assert boto.get_object(Bucket=bucket, Key="a")["Body"].read() == pattern(11 * MIB) and states() == []


def test_one_process_at_a_time_uploads_a_file_to_a_place(fs, bucket, tmp_path, states):
    (tmp_path / "file").write_bytes(pattern(6 * MIB))
    fs.part_size = 5 * MIB
    kept = fs._kept(str(tmp_path / "file"), f"{bucket}/a", 5 * MIB)
    with pytest.raises(OSError, match="by another process"):
        fs.put_file(str(tmp_path / "file"), f"{bucket}/a", resume=True)
    fs.put_file(str(tmp_path / "file"), f"{bucket}/b", resume=True)
    kept.release()
    fs.put_file(str(tmp_path / "file"), f"{bucket}/a", resume=True)
    assert states() == []


def test_more_than_a_page(fs, boto, bucket, monkeypatch):
    monkeypatch.setattr(warmwire.s3, "_PAGE", 50)
    monkeypatch.setattr(warmwire.s3, "_IN_ONE_DELETE", 40)
    fs.pipe({f"{bucket}/many/{n % 7}/{n:04}": b"" for n in range(130)})
    assert len(fs.find(bucket)) == 130
    assert fs.ls(f"{bucket}/many", detail=False) == [f"{bucket}/many/{n}" for n in range(7)]
    assert len(fs.glob(f"{bucket}/many/*/00*")) == 100
    fs.cp_file(f"{bucket}/many/0/0000", f"{bucket}/one copy")
    fs.rm(f"{bucket}/many", recursive=True)
    assert fs.find(bucket) == [f"{bucket}/one copy"]
    # A marker of a directory goes with it.
    boto.put_object(Bucket=bucket, Key="logs/", Body=b"")
    assert fs.isdir(f"{bucket}/logs") and fs.find(bucket) == [f"{bucket}/one copy"]
    fs.rm(f"{bucket}/logs", recursive=True)
    assert not fs.exists(f"{bucket}/logs")
    with pytest.raises(FileExistsError):
        fs.mkdir(bucket)
    fs.rm(bucket, recursive=True)
    assert bucket not in fs.ls("", detail=False)


def test_create_does_not_overwrite(fs, bucket):
    fs.pipe_file(f"{bucket}/one", b"1", mode="create")
    with pytest.raises(S3Exists):
        fs.pipe_file(f"{bucket}/one", b"2", mode="create")
    with pytest.raises(FileExistsError):
        fs.open(f"{bucket}/one", "xb")
    assert fs.cat_file(f"{bucket}/one") == b"1"
    with pytest.raises(IsADirectoryError):
        fs.pipe_file(bucket, b"")
    with pytest.raises(TypeError, match="colour"):
        fs.pipe_file(f"{bucket}/one", b"", colour="red")


def test_an_open_file_is_of_one_version(fs, bucket):
    fs.pipe_file(f"{bucket}/file", pattern(100_000))
    with fs.open(f"{bucket}/file", block_size=1000) as file:
        assert file.read(10) == pattern(10)
        fs.pipe_file(f"{bucket}/file", b"x" * 100_000)
        file.seek(50_000)
        with pytest.raises(FileExpired):
            file.read(10)


def test_signed_urls(fs, bucket):
    fs.pipe_file(f"{bucket}/a b", b"signed")
    url = fs.sign(f"{bucket}/a b", expiration=60)
    assert "X-Amz-Expires=60" in url and urllib.request.urlopen(url).read() == b"signed"
    # Amazon's own example of a signature in a query.
    from datetime import datetime, timezone

    from warmwire.s3 import Credentials, _presigned

    keys = Credentials("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
    moment = datetime(2013, 5, 24, tzinfo=timezone.utc)
    signed = _presigned("GET", "https://examplebucket.s3.amazonaws.com/test.txt", keys, "us-east-1", 86400, moment)
    assert signed.endswith("Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404")


def test_pandas_pyarrow_and_duckdb(fs, bucket, moto):
    import duckdb
    import pandas
    from pyarrow import dataset

    options = {"key": "a", "secret": "b", "endpoint_url": moto}
    warmwire.s3.register()
    for part in range(3):
        frame = pandas.DataFrame({"n": range(part * 1000, part * 1000 + 1000)})
        frame.to_parquet(f"s3://{bucket}/table/part-{part}.parquet", storage_options=options)
    assert isinstance(fsspec.filesystem("s3", **options), S3FileSystem)
    assert len(pandas.read_parquet(f"s3://{bucket}/table", storage_options=options)) == 3000
    rows = dataset.dataset(f"{bucket}/table", filesystem=fs, format="parquet").to_table()
    assert sum(rows["n"].to_pylist()) == sum(range(3000))
    dataset.write_dataset(rows, f"{bucket}/copy", filesystem=fs, format="parquet", partitioning=None)
    with duckdb.connect() as database:
        database.register_filesystem(fs)
        found = database.execute(f"select count(*), sum(n) from read_parquet('s3://{bucket}/copy/*.parquet')").fetchone()
        database.execute(f"copy (select 1 as n) to 's3://{bucket}/by-duckdb.parquet' (format parquet)")
    assert found == (3000, sum(range(3000)))
    assert len(pandas.read_parquet(f"s3://{bucket}/by-duckdb.parquet", storage_options=options)) == 1


# Requests as they are on the wire


class Refusing:
    """A service that refuses the first requests, and keeps what it was sent."""

    def __init__(self, *refusals, body=b"content"):
        self.refusals, self.rows, self.body, self.lock = list(refusals), [], body, threading.Lock()
        self.site = Site(self.reply)
        self.root = self.site.root

    def reply(self, handler):
        with self.lock:
            self.rows.append((handler.command, handler.path, dict(handler.headers.items())))
            refusal = self.refusals.pop(0) if self.refusals else None
        handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        if refusal is None:
            answer(handler, self.body, ETag='"tag"', Last_Modified="Fri, 27 Nov 2026 10:00:00 GMT")
        elif callable(refusal):
            refusal(handler)
        else:
            status, code, *fields = refusal
            text = f"<Error><Code>{code}</Code><Message>as the test wants</Message></Error>".encode()
            answer(handler, text, status, **dict(fields))


def files(service, **how):
    return S3FileSystem(**{"key": "AKID", "secret": "secret", "endpoint_url": service.root, "skip_instance_cache": True, **how})


def test_refusals_for_load_are_repeated():
    service = Refusing((503, "SlowDown"), (500, "InternalError"), (400, "RequestTimeout"))
    assert files(service).cat_file("bucket/key") == b"content"
    assert len(service.rows) == 4
    service = Refusing(*[(503, "SlowDown")] * 3)
    with pytest.raises(S3Error, match="SlowDown") as caught:
        files(service, retries=2).cat_file("bucket/key")
    assert caught.value.status == 503 and len(service.rows) == 3
    for status, code, kind in ((403, "SignatureDoesNotMatch", S3Denied), (404, "NoSuchKey", S3NotFound), (400, "InvalidArgument", S3Error)):
        service = Refusing((status, code))
        with pytest.raises(kind, match=f"{code}: as the test wants"):
            files(service).cat_file("bucket/key")
        assert len(service.rows) == 1


def test_pauses_are_random_and_bounded():
    from warmwire._retry import pause

    pauses = [[pause(attempt) for _ in range(200)] for attempt in (1, 4, 40)]
    assert all(len(set(each)) > 150 for each in pauses)
    assert max(pauses[0]) <= 0.2 and 0.8 < max(pauses[1]) <= 1.6 and 15 < max(pauses[2]) <= 20
    assert pause(1, "3") == 3 and pause(1, "3000") == 20


def test_a_copy_that_fails_with_status_200():
    service = Refusing(None, (200, "InternalError"), body=b"<CopyObjectResult/>")
    files(service).cp_file("bucket/a", "bucket/b")
    assert [row[0] for row in service.rows] == ["HEAD", "PUT", "PUT"]


def test_a_broken_download_goes_on(tmp_path):
    whole = pattern(400_000)

    def cut(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(whole)))
        handler.send_header("ETag", '"tag"')
        handler.end_headers()
        handler.wfile.write(whole[:300_000])
        handler.wfile.flush()
        handler.close_connection = True

    def rest(handler):
        first = int(handler.headers["Range"].removeprefix("bytes=").rstrip("-"))
        answer(handler, whole[first:], 206, Content_Range=f"bytes {first}-{len(whole) - 1}/{len(whole)}")

    service = Refusing(cut, rest)
    files(service).get_file("bucket/key", tmp_path / "got")
    assert (tmp_path / "got").read_bytes() == whole
    assert service.rows[1][2]["If-Match"] == '"tag"'
    service = Refusing(cut, (412, "PreconditionFailed"))
    with pytest.raises(S3Error, match="PreconditionFailed"):
        files(service).get_file("bucket/key", tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_paths_hosts_and_fields():
    service = Refusing()
    files(service, requester_pays=True, token="session").cat_file("bucket/a//b/../c")
    command, path, headers = service.rows[0]
    assert (command, path) == ("GET", "/bucket/a//b/../c")
    assert headers["x-amz-request-payer"] == "requester" and headers["x-amz-security-token"] == "session"
    signed = headers["Authorization"]
    assert signed.startswith("AWS4-HMAC-SHA256 Credential=AKID/") and "/us-east-1/s3/aws4_request" in signed
    assert "x-amz-request-payer;x-amz-security-token" in signed
    port = service.root.rpartition(":")[2]
    virtual = files(service, addressing="virtual", endpoint_url=f"http://localhost:{port}", client={"options": {"RESOLVE": [f"my-bucket.localhost:{port}:127.0.0.1"]}})
    virtual.cat_file("my-bucket/key")
    assert service.rows[-1][1] == "/key" and service.rows[-1][2]["Host"] == f"my-bucket.localhost:{port}"
    files(service, anon=True, key=None, secret=None).cat_file("bucket/key")
    assert "Authorization" not in service.rows[-1][2]
    amazon = S3FileSystem(anon=True, region="eu-west-1").service
    assert amazon.url("bucket", "a b") == "https://bucket.s3.eu-west-1.amazonaws.com/a%20b"
    assert amazon.url("bucket.with.dots", "k") == "https://s3.eu-west-1.amazonaws.com/bucket.with.dots/k"
    for how in ({"addressing": "sideways"}, {"endpoint_url": "ftp://x"}, {"key": "k", "secret": None}):
        with pytest.raises(ValueError):
            files(service, **how)


def test_a_bucket_of_another_region():
    service = Refusing((301, "PermanentRedirect", ("x_amz_bucket_region", "eu-central-1")))
    fs = files(service)
    # Amazon's own service, at the test's address.
    fs.service.url = lambda bucket, key="", query=None: f"{service.root}/{bucket}/{key}"
    fs.service.endpoint = None
    assert fs.cat_file("bucket/key") == b"content"
    assert ["/us-east-1/" in row[2]["Authorization"] for row in service.rows] == [True, False]
    assert "/eu-central-1/" in service.rows[1][2]["Authorization"]


# Credentials


def signer(service, **how):
    """Which access key signs a request."""
    files(service, key=None, secret=None, **how).cat_file("bucket/key")
    headers = service.rows[-1][2]
    return headers["Authorization"].partition("Credential=")[2].partition("/")[0], headers.get("x-amz-security-token")


def test_environment_and_profiles(no_environment, tmp_path):
    service = Refusing()
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws" / "credentials").write_text(
        "[default]\naws_access_key_id = OFDEFAULT\naws_secret_access_key = s%s\n[other]\naws_access_key_id=OFOTHER\n"
        "aws_secret_access_key=x\naws_session_token=t\n"
    )
    (tmp_path / ".aws" / "config").write_text("[profile other]\nregion = eu-north-1\n[profile role]\nrole_arn = arn:aws:iam::1:role/x\n")
    assert signer(service) == ("OFDEFAULT", None)
    assert signer(service, profile="other") == ("OFOTHER", "t")
    assert "/eu-north-1/" in service.rows[-1][2]["Authorization"]
    no_environment.setenv("AWS_ACCESS_KEY_ID", "OFENVIRONMENT")
    with pytest.raises(CredentialsError, match="AWS_SECRET_ACCESS_KEY is not set"):
        signer(service)
    no_environment.setenv("AWS_SECRET_ACCESS_KEY", "s")
    assert signer(service) == ("OFENVIRONMENT", None)
    assert signer(service, profile="other") == ("OFOTHER", "t")
    no_environment.setenv("AWS_ENDPOINT_URL_S3", service.root)
    no_environment.setenv("AWS_REGION", "us-west-2")
    assert signer(service, endpoint_url=None) == ("OFENVIRONMENT", None)
    assert "/us-west-2/" in service.rows[-1][2]["Authorization"]
    with pytest.raises(CredentialsError, match="'missing' is neither"):
        files(service, key=None, secret=None, profile="missing")
    with pytest.raises(CredentialsError, match="role_arn, which is not supported"):
        signer(service, profile="role")
    (tmp_path / ".aws" / "config").write_text("no section\n")
    with pytest.raises(CredentialsError, match="cannot be parsed"):
        signer(service)


def temporary(key, seconds):
    until = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + seconds))
    return json.dumps({"AccessKeyId": key, "SecretAccessKey": "s", "Token": f"token of {key}", "Expiration": until}).encode()


def test_container_endpoint(no_environment, tmp_path):
    seen = []

    def reply(handler):
        seen.append(handler.headers["Authorization"])
        # The first ones expire within five minutes: they are fetched again for the next request.
        answer(handler, temporary(f"KEY{len(seen)}", 60 if len(seen) == 1 else 3600))

    container, service = Site(reply), Refusing()
    (tmp_path / "token").write_text("let me in\n")
    no_environment.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", container.root + "/credentials")
    no_environment.setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", str(tmp_path / "token"))
    no_environment.setenv("http_proxy", "http://127.0.0.1:1")
    no_environment.setenv("no_proxy", service.root.partition("://")[2].partition(":")[0])
    fs = files(service, key=None, secret=None)
    fs.cat_ranges(["bucket/a", "bucket/b", "bucket/c"], 0, 5)
    fs.cat_file("bucket/key")
    fs.cat_file("bucket/key")
    assert seen == ["let me in"] * 2
    assert "KEY2/" in service.rows[-1][2]["Authorization"] and service.rows[-1][2]["x-amz-security-token"] == "token of KEY2"
    service.refusals.append((400, "ExpiredToken"))
    assert fs.cat_file("bucket/key") == b"content" and len(seen) == 3
    no_environment.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://example.com/credentials")
    with pytest.raises(CredentialsError, match="plain http"):
        signer(service)


def test_web_identity(no_environment, moto, boto, bucket, tmp_path):
    boto.put_object(Bucket=bucket, Key="a", Body=b"of a role")
    role = "arn:aws:iam::123456789012:role/reader"
    (tmp_path / "token").write_text("header.claims.signature\n")
    for name, value in (("WEB_IDENTITY_TOKEN_FILE", str(tmp_path / "token")), ("ROLE_ARN", role), ("ENDPOINT_URL_STS", moto)):
        no_environment.setenv(f"AWS_{name}", value)
    fs = S3FileSystem(endpoint_url=moto, skip_instance_cache=True)
    assert fs.cat_file(f"{bucket}/a") == b"of a role"
    held = fs.service.source._held
    assert held.access_key.startswith("ASIA") and held.token and held.expires > time.time() + 600
    # A profile names role and token, too; STS gets both in a form.
    forms = []

    def reply(handler):
        forms.append(parse_qs(handler.rfile.read(int(handler.headers["Content-Length"])).decode()))
        if len(forms) > 1:
            answer(handler, b"<Error><Code>InvalidIdentityToken</Code></Error>", 400)
        else:
            answer(handler, role_reply())

    def role_reply():
        keys = "<AccessKeyId>OFROLE</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>"
        return f'<R xmlns="x"><Credentials>{keys}<Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></R>'.encode()

    for name in ("WEB_IDENTITY_TOKEN_FILE", "ROLE_ARN", "ENDPOINT_URL_STS"):
        no_environment.delenv(f"AWS_{name}")
    sts, service = Site(reply), Refusing()
    (tmp_path / ".aws").mkdir()
    profile = f"[profile eks]\nrole_arn={role}\nweb_identity_token_file={tmp_path}/token\nrole_session_name=me\n"
    (tmp_path / ".aws" / "config").write_text(profile)
    no_environment.setenv("AWS_PROFILE", "eks")
    no_environment.setenv("AWS_ENDPOINT_URL_STS", sts.root)
    assert signer(service) == ("OFROLE", "t")
    wanted = {"Action": "AssumeRoleWithWebIdentity", "Version": "2011-06-15", "RoleArn": role, "RoleSessionName": "me"}
    assert forms == [{name: [value] for name, value in {**wanted, "WebIdentityToken": "header.claims.signature"}.items()}]
    with pytest.raises(CredentialsError, match="400") as raised:
        signer(service)
    assert "header.claims" not in str(raised.value)
    for url, words in ((Site(lambda handler: answer(handler, b"{}")).root, "expected XML"), ("http://example.com", "by https")):
        no_environment.setenv("AWS_ENDPOINT_URL_STS", url)
        with pytest.raises(CredentialsError, match=words):
            signer(service)
    (tmp_path / "token").unlink()
    no_environment.setenv("AWS_ENDPOINT_URL_STS", sts.root)
    with pytest.raises(CredentialsError, match="web identity"):
        signer(service)


def test_instance_endpoint(no_environment):
    rows = []

    def reply(handler):
        rows.append((handler.command, handler.path))
        if handler.path == "/latest/api/token":
            answer(handler, b"the token" if handler.command == "PUT" else b"", 200 if handler.command == "PUT" else 405)
        elif handler.headers["X-aws-ec2-metadata-token"] != "the token":
            answer(handler, b"", 401)
        elif handler.path.endswith("/security-credentials/"):
            answer(handler, b"my-role")
        else:
            answer(handler, temporary("OFINSTANCE", 3600))

    instance, service = Site(reply), Refusing()
    no_environment.delenv("AWS_EC2_METADATA_DISABLED")
    no_environment.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", instance.root)
    assert signer(service) == ("OFINSTANCE", "token of OFINSTANCE")
    assert [path for _, path in rows][-1] == "/latest/meta-data/iam/security-credentials/my-role"
    broken = Site(lambda handler: answer(handler, b"{}" if handler.path.endswith("role") else b"role"))
    no_environment.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", broken.root)
    with pytest.raises(CredentialsError, match="not the expected JSON"):
        signer(service)
    no_environment.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1:1")
    with pytest.raises(CredentialsError, match="no credentials: set AWS_ACCESS_KEY_ID"):
        signer(service)


def test_secrets_are_not_shown(no_environment):
    fs = S3FileSystem(key="AKID", secret="very secret", token="also secret", endpoint_url="http://127.0.0.1:1")
    shown = repr(fs) + repr(fs.service.source._held)
    assert "very secret" not in shown and "also secret" not in shown


def test_asynchronous(moto, bucket):
    async def main():
        fs = S3FileSystem(key="a", secret="b", endpoint_url=moto, asynchronous=True)
        await asyncio.gather(*(fs._pipe_file(f"{bucket}/{n}", pattern(n)) for n in range(20)))
        file = await fs.open_async(f"{bucket}/19")
        return await asyncio.gather(*(fs._cat_file(f"{bucket}/{n}") for n in range(20))), await file.read()

    bodies, last = asyncio.run(main())
    assert bodies == [pattern(n) for n in range(20)] and last == pattern(19)


def test_versions_are_those_of_boto3(moto, boto, bucket, tmp_path):
    boto.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    fs = S3FileSystem(key="a", secret="b", endpoint_url=moto, version_aware=True)
    path, ids = f"{bucket}/dir/a b", []
    for content in (b"one", b"two", b"three"):
        with fs.open(path, "wb") as file:
            file.write(content)
        ids.append(file.version_id)
    rows = boto.list_object_versions(Bucket=bucket, Prefix="dir/a b")["Versions"]
    assert sorted(ids) == sorted(row["VersionId"] for row in rows) and len(set(ids)) == 3
    boto.put_object(Bucket=bucket, Key="dir/a bc", Body=b"another object with this prefix")
    found = fs.object_version_info(path)
    assert {(row["VersionId"], row["IsLatest"], row["size"]) for row in found} == {
        (row["VersionId"], row["IsLatest"], row["Size"]) for row in rows
    }
    first = f"{path}?versionId={ids[0]}"
    assert fs.cat_file(path) == fs.cat(path) == b"three" and fs.cat_file(path, version_id=ids[1]) == b"two"
    assert fs.cat(first) == b"one" and fs.cat_file(first, 1, 2) == b"n" and fs.cat_file(first, -2) == b"ne"
    assert fs.size(first) == 3 and fs.info(path, version_id=ids[2])["size"] == 5 and fs.exists(first)
    assert set(fs.ls(f"{bucket}/dir", versions=True)) > {f"{path}?versionId={each}" for each in ids}
    assert fs.ls(f"{bucket}/dir") == [path, path + "c"]
    with fs.open(path, version_id=ids[0]) as file:
        assert (file.version_id, file.read()) == (ids[0], b"one")
    fs.get_file(first, tmp_path / "got")
    assert (tmp_path / "got").read_bytes() == b"one"
    with urllib.request.urlopen(fs.url(first)) as reply:
        assert reply.read() == b"one"
    fs.cp_file(first, f"{bucket}/copy")
    assert boto.get_object(Bucket=bucket, Key="copy")["Body"].read() == b"one"
    # A file that was opened stays readable when another version follows.
    with fs.open(path, block_size=1, cache_type="none") as file:
        assert file.read(2) == b"th"
        fs.pipe_file(path, b"four")
        assert file.read() == b"ree"
    fs.rm([first, f"{bucket}/copy"])
    assert not fs.exists(f"{bucket}/copy")
    assert ids[0] not in [row["VersionId"] for row in boto.list_object_versions(Bucket=bucket, Prefix="dir/a b")["Versions"]]
    fs.rm(path)
    assert not fs.exists(path) and fs.cat_file(path, version_id=ids[1]) == b"two"
    with pytest.raises(S3Error):
        fs.info(first)
    second = f"{path}?versionId={ids[1]}"
    for write in (lambda: fs.open(second, "wb"), lambda: fs.pipe_file(second, b"2"), lambda: fs.cp_file(second, second)):
        with pytest.raises(ValueError, match="never changed"):
            write()
    with pytest.raises(ValueError, match="another version"):
        fs.cat_file(first, version_id=ids[1])


def test_more_versions_than_a_page(moto, boto, bucket, monkeypatch):
    monkeypatch.setattr(warmwire.s3, "_PAGE", 3)
    boto.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    fs = S3FileSystem(key="a", secret="b", endpoint_url=moto, version_aware=True)
    ids = [boto.put_object(Bucket=bucket, Key="a+ b", Body=b"x")["VersionId"] for _ in range(8)]
    assert sorted(row["VersionId"] for row in fs.object_version_info(f"{bucket}/a+ b")) == sorted(ids)


def test_versions_are_refused_unless_they_are_asked_for(fs, boto, bucket):
    assert not fs.is_bucket_versioned(bucket)
    fs.make_bucket_versioned(bucket)
    assert fs.is_bucket_versioned(bucket) and boto.get_bucket_versioning(Bucket=bucket)["Status"] == "Enabled"
    fs.make_bucket_versioned(bucket, False)
    assert not fs.is_bucket_versioned(bucket) and boto.get_bucket_versioning(Bucket=bucket)["Status"] == "Suspended"
    fs.pipe_file(f"{bucket}/a?versionId=b", b"a key like any other")
    assert boto.get_object(Bucket=bucket, Key="a?versionId=b")["Body"].read() == b"a key like any other"
    for call in (lambda: fs.cat_file(f"{bucket}/a", version_id="1"), lambda: fs.object_version_info(f"{bucket}/a")):
        with pytest.raises(ValueError, match="version_aware=True"):
            call()


def test_tags_are_those_of_boto3(fs, boto, bucket):
    path = f"{bucket}/tagged"
    fs.pipe_file(path, b"x")
    assert fs.get_tags(path) == {}
    fs.put_tags(path, {"a + b": "c=d @e", "c": ""})
    assert {row["Key"]: row["Value"] for row in boto.get_object_tagging(Bucket=bucket, Key="tagged")["TagSet"]} == {"a + b": "c=d @e", "c": ""}
    fs.put_tags(path, {"c": "2", "d": "3"}, mode="m")
    assert fs.get_tags(path) == {"a + b": "c=d @e", "c": "2", "d": "3"}
    fs.put_tags(path, {"e": "4"})
    assert fs.get_tags(path) == {"e": "4"}
    with pytest.raises(ValueError, match="mode"):
        fs.put_tags(path, {}, mode="x")
    with pytest.raises(S3Error, match="InvalidTag.*'<&>'"):
        fs.put_tags(path, {"a": "<&>"})
    with pytest.raises(S3NotFound):
        fs.get_tags(f"{bucket}/none")
