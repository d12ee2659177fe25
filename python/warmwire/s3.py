"""A file system for fsspec over Amazon S3 and services that are compatible with it.

>>> import warmwire.s3
>>> files = warmwire.s3.S3FileSystem(anon=True)
>>> warmwire.s3.register()     # fsspec, pandas, dask and others then use it for s3:// and s3a://

Its arguments are named as those of s3fs, and ``ls`` returns names by default, as there. Listings are not cached: what another program
wrote is seen at once.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import hmac
import io
import mimetypes
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit
from xml.sax.saxutils import escape

import fsspec
from fsspec.callbacks import DEFAULT_CALLBACK
from fsspec.spec import AbstractBufferedFile

from ._aws import Credentials, CredentialsError, CredentialSource, FixedSource, Profile
from ._errors import RequestError
from ._files import Files, Read, Streamed, mirrored, waited
from ._models import Response
from ._s3_service import S3Denied, S3Error, S3Exists, S3NotFound, Service, listed, parsed, text_of
from ._s3_uploads import Kept, md5, tag_of_parts

PART = 16 * 2**20
"""Size of the parts of an upload; it grows with the number of parts, of which there are at most 10,000."""
_SMALLEST_PART = 5 * 2**20
_LARGEST_COPY = 5 * 2**30
_COPIED_PART = 2**30
_IN_ONE_DELETE = 1000
_PAGE = 1000
_VERSION = "?versionId="
"""Separates the key of an object from its version in a path, as in s3fs."""
_FSSPEC = frozenset({"skip_instance_cache", "use_listings_cache", "listings_expiry_time", "max_paths", "batch_size"})
_HEADERS = {
    "ACL": "x-amz-acl",
    "CacheControl": "Cache-Control",
    "ContentDisposition": "Content-Disposition",
    "ContentEncoding": "Content-Encoding",
    "ContentLanguage": "Content-Language",
    "ContentType": "Content-Type",
    "ExpectedBucketOwner": "x-amz-expected-bucket-owner",
    "SSEKMSKeyId": "x-amz-server-side-encryption-aws-kms-key-id",
    "ServerSideEncryption": "x-amz-server-side-encryption",
    "StorageClass": "x-amz-storage-class",
    "Tagging": "x-amz-tagging",
}
_Result = TypeVar("_Result")


def register(*schemes: str) -> None:
    """Makes fsspec use :class:`S3FileSystem` for these schemes, ``s3`` and ``s3a`` by default."""
    for scheme in schemes or S3FileSystem.protocol:
        fsspec.register_implementation(scheme, S3FileSystem, clobber=True)


@mirrored
class S3FileSystem(Files):
    """Buckets and objects as directories and files; a path is ``bucket/key``, with or without ``s3://``.

    Credentials are ``key``, ``secret`` and ``token``, or those of ``profile``, or come from the environment, the profile files, the
    container's or the instance's endpoint, in this order. ``anon=True`` signs nothing. ``endpoint_url`` is a compatible service.
    ``addressing`` is ``virtual`` (the bucket is in the host's name), ``path``, or ``auto``: virtual at Amazon's, path elsewhere.
    Requests that are refused for load (SlowDown) or break are sent again, up to ``retries`` times, after pauses of random length.
    ``s3_additional_kwargs`` are headers of what is written, by Amazon's names (``ServerSideEncryption``, ``StorageClass``, ``ACL``).
    ``client`` has arguments of :class:`~warmwire.AsyncClient`. ``max_concurrency`` is the number of parts on their way at once.
    With ``version_aware=True`` a path may end in ``?versionId=ID``, and methods that read take ``version_id``.

    >>> warmwire.s3.S3FileSystem(key="AKIDEXAMPLE", secret="secret", endpoint_url="https://storage.example.org")
    <S3FileSystem https://storage.example.org>
    """

    protocol = ("s3", "s3a")
    root_marker = ""

    def __init__(
        self,
        anon: bool = False,
        key: str | None = None,
        secret: str | None = None,
        token: str | None = None,
        profile: str | None = None,
        endpoint_url: str | None = None,
        region: str | None = None,
        addressing: str = "auto",
        requester_pays: bool = False,
        retries: int = 5,
        max_concurrency: int = 8,
        block_size: int = 5 * 2**20,
        part_size: int = PART,
        cache_type: str = "readahead",
        s3_additional_kwargs: dict[str, str] | None = None,
        client_kwargs: dict[str, Any] | None = None,
        config_kwargs: dict[str, Any] | None = None,
        client: dict[str, Any] | None = None,
        use_ssl: bool = True,
        default_block_size: int | None = None,
        default_cache_type: str | None = None,
        version_aware: bool = False,
        asynchronous: bool = False,
        loop: Any = None,
        **more: Any,
    ) -> None:
        unknown = sorted(set(more) - _FSSPEC)
        if unknown:
            raise TypeError(f"unknown argument: {', '.join(unknown)}")
        if part_size < _SMALLEST_PART:
            raise ValueError(f"part_size is at least {_SMALLEST_PART}: S3 accepts no smaller parts")
        if max_concurrency < 1 or retries < 0:
            raise ValueError("max_concurrency is at least 1, retries at least 0")
        if bool(key) != bool(secret):
            raise ValueError("key and secret are given together")
        super().__init__(asynchronous=asynchronous, loop=loop, **more)
        theirs = dict(client_kwargs or {})
        styles = dict(config_kwargs or {}).pop("s3", {}).get("addressing_style", addressing)
        engine = {"follow_redirects": False, "trust_env": True, **(client or {})}
        if "verify" in theirs:
            engine["verify"] = theirs.pop("verify")
        chosen = Profile(profile)
        endpoint = endpoint_url or theirs.pop("endpoint_url", None) or chosen.setting("endpoint_url", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
        place = region or theirs.pop("region_name", None) or chosen.setting("region", "AWS_REGION", "AWS_DEFAULT_REGION")
        theirs.pop("endpoint_url", None), theirs.pop("region_name", None)
        if theirs:
            raise TypeError(f"unknown in client_kwargs: {', '.join(sorted(theirs))}")
        if endpoint is None and not use_ssl:
            endpoint = f"http://s3.{place or 'us-east-1'}.amazonaws.com"
        source: CredentialSource | FixedSource | None = None
        if not anon:
            source = FixedSource(Credentials(key, secret, token)) if key and secret else CredentialSource(chosen)
        self.service = Service(
            engine, source=source, region=place or "us-east-1", endpoint=endpoint, addressing=styles,
            requester_pays=requester_pays, retries=retries,
        )  # fmt: skip
        self.block_size, self.cache_type = default_block_size or block_size, default_cache_type or cache_type
        self.part_size = part_size
        self.version_aware = version_aware
        self.max_concurrency = max_concurrency
        self._written = _named_headers(s3_additional_kwargs or {})

    def __repr__(self) -> str:
        return f"<S3FileSystem {self.service.endpoint or 's3.' + self.service.region}>"

    @staticmethod
    def _get_kwargs_from_urls(path: str) -> dict[str, Any]:
        """Returns the arguments for a URL: one with a version needs a file system that reads versions."""
        return {"version_aware": True} if _VERSION in path else {}

    def split_path(self, path: str) -> tuple[str, str]:
        """Returns bucket and key, without a version.

        >>> warmwire.s3.S3FileSystem(anon=True).split_path("s3://bucket/a/b.txt")
        ('bucket', 'a/b.txt')
        """
        bucket, _, key = self._strip_protocol(path).partition("/")
        return bucket, key.partition(_VERSION)[0] if self.version_aware else key

    def _version_of(self, path: str) -> str:
        """Returns the version in a path; empty for the current one."""
        return path.partition(_VERSION)[2] if self.version_aware else ""

    def _version_query(self, path: str) -> dict[str, str]:
        version = self._version_of(path)
        return {"versionId": version} if version else {}

    def _at_version(self, path: str, version_id: str | None) -> str:
        """Returns the path of a version of an object."""
        if version_id is None:
            return path
        self._check_versions()
        if self._version_of(path) not in ("", version_id):
            raise ValueError(f"{path} names another version than version_id={version_id!r}")
        return path if self._version_of(path) else path + _VERSION + version_id

    def _check_versions(self) -> None:
        if not self.version_aware:
            raise ValueError("versions of objects need S3FileSystem(version_aware=True)")

    async def _expand_path(self, path: Any, recursive: bool = False, maxdepth: int | None = None, **kwargs: Any) -> list[str]:
        # fsspec takes the question mark before a version for a pattern.
        given = [path] if isinstance(path, str) else list(path)
        versions = [self._strip_protocol(each) for each in given if self._version_of(each)]
        others = [each for each in given if not self._version_of(each)]
        if not others:
            return versions
        if versions:
            path = others
        return [*versions, *await super()._expand_path(path, recursive=recursive, maxdepth=maxdepth, **kwargs)]

    def _object(self, path: str) -> tuple[str, str]:
        bucket, key = self.split_path(path)
        if not key:
            raise NoObject(f"{path or 's3://'} is not an object: a path is bucket/key")
        return bucket, key

    def _object_to_write(self, path: str) -> tuple[str, str]:
        if self._version_of(path):
            raise ValueError(f"{path}: a version is never changed; write to the path without it")
        return self._object(path)

    # Reading

    async def _cat_file(
        self, path: str, start: int | None = None, end: int | None = None, version_id: str | None = None, **kwargs: Any
    ) -> bytes:
        path = self._at_version(path, version_id)
        if (start is not None and start < 0 and end is None) or (end or 0) >= 0 and (start or 0) >= 0:
            return await self._piece(path, start, end)
        return await self._piece(path, *await self._limits_of(path, start, end))

    async def _piece(self, path: str, start: int | None, end: int | None, etag: str | None = None) -> bytes:
        bucket, key = self._object(path)
        headers = {"If-Match": etag} if etag else {}
        if start is not None and end is not None and start >= end or end == 0:
            return b""
        if start is not None and start < 0:
            headers["Range"] = f"bytes={start}"
        elif start or end is not None:
            headers["Range"] = f"bytes={start or 0}-{'' if end is None else end - 1}"
        try:
            reply = await self.service.call("GET", bucket, key, query=self._version_query(path), headers=headers)
        except S3Error as error:
            if error.status == 416:  # behind the end, or an empty object
                return b""
            raise
        body = reply.content
        if reply.status_code == 200 and "Range" in headers:
            return body[start:end]
        return body

    async def _pieces(self, path: str, callback: Any) -> AsyncIterator[bytes]:
        pieces = self.service.pieces(*self._object(path), self._version_query(path))
        reply = await pieces.__anext__()
        if "content-length" in reply.headers:
            callback.set_size(int(reply.headers["content-length"]))
        async for piece in pieces:
            callback.relative_update(len(piece))
            yield piece

    async def _get_file(
        self, rpath: str, lpath: Any, callback: Any = DEFAULT_CALLBACK, version_id: str | None = None, **kwargs: Any
    ) -> None:
        rpath = self._at_version(rpath, version_id)
        if not hasattr(lpath, "write") and os.path.isdir(lpath):
            return
        if not self.split_path(rpath)[1]:
            os.makedirs(lpath, exist_ok=True)
            return
        try:
            await self._stored(rpath, lpath, callback)
        except S3NotFound:
            if not await self._isdir(rpath):
                raise
            os.makedirs(lpath, exist_ok=True)

    # Listing

    async def _info(self, path: str, version_id: str | None = None, **kwargs: Any) -> dict[str, Any]:
        version = self._version_query(self._at_version(path, version_id))
        bucket, key = self.split_path(path)
        path = f"{bucket}/{key}" if key else bucket
        if not bucket:
            return _folder("")
        if key:
            try:
                return _described(path, await self.service.call("HEAD", bucket, key, query=version))
            except S3NotFound:
                if version:
                    raise
        async for _, _ in self._pages(bucket, key + "/" if key else "", "/", is_probe=True):
            return _folder(path)
        raise S3NotFound(path, "NoSuchKey", "neither an object nor a prefix of one", 404)

    async def _pages(
        self, bucket: str, prefix: str, delimiter: str = "", is_probe: bool = False, versions: bool = False
    ) -> AsyncIterator[tuple[list[Any], list[str]]]:
        query = {"prefix": prefix, "max-keys": str(1 if is_probe else _PAGE), "encoding-type": "url"}
        query.update({"versions": ""} if versions else {"list-type": "2"})
        if delimiter:
            query["delimiter"] = delimiter
        while True:
            rows, prefixes, following = listed(await self.service.call("GET", bucket, query=query))
            if is_probe and prefix and not rows and not prefixes:
                return
            yield rows, prefixes
            if not following or is_probe:
                return
            query.update(following)

    async def _ls(self, path: str, detail: bool = False, refresh: bool = False, versions: bool = False, **kwargs: Any) -> Any:
        """Lists a directory. With ``versions`` an entry is a version of an object, named with it."""
        if versions:
            self._check_versions()
        bucket, key = self.split_path(path)
        found = await self._buckets() if not bucket else await self._folder_of(bucket, key, versions)
        if not found and key:
            if versions:
                found = [_named_version(each) for each in await self._object_version_info(path)]
            elif (info := await self._info(path))["type"] == "file":
                found = [info]
        return found if detail else sorted(entry["name"] for entry in found)

    async def _buckets(self) -> list[dict[str, Any]]:
        if self.service.source is None:
            return []  # only an owner has a list of buckets
        root = parsed((await self.service.call("GET")).content)
        return [
            {**_folder(text_of(row, "Name")), "CreationDate": _moment(text_of(row, "CreationDate"))} for row in root.iter("Bucket")
        ]

    async def _object_version_info(self, path: str) -> list[dict[str, Any]]:
        self._check_versions()
        bucket, key = self._object(path)
        found = [row async for rows, _ in self._pages(bucket, key, versions=True) for row in rows]
        return [_listed_row(bucket, row) for row in found if row.findtext("Key") == key]

    def object_version_info(self, path: str) -> list[dict[str, Any]]:
        """Returns the versions of an object, the current one first; ``VersionId`` and ``IsLatest`` are among their facts."""
        return waited(self, self._object_version_info, path)

    async def _folder_of(self, bucket: str, key: str, versions: bool = False) -> list[dict[str, Any]]:
        prefix = key + "/" if key else ""
        found = []
        async for rows, prefixes in self._pages(bucket, prefix, "/", versions=versions):
            found += [_folder(f"{bucket}/{each.rstrip('/')}") for each in prefixes if each != prefix]
            found += [entry for row in rows if (entry := _listed_row(bucket, row))["name"].rstrip("/") != f"{bucket}/{key}".rstrip("/")]
        return [_named_version(entry) for entry in found] if versions else found

    async def _find(
        self, path: str, maxdepth: int | None = None, withdirs: bool = False, detail: bool = False, prefix: str | None = "", **kwargs: Any
    ) -> Any:
        bucket, key = self.split_path(path)
        if not bucket:
            raise ValueError("finding in all buckets would list them all")
        if maxdepth is not None and maxdepth < 1:
            raise ValueError("maxdepth is at least 1")
        base, prefix = key + "/" if key else "", prefix or ""
        root, found = f"{bucket}/{key}".rstrip("/"), {}
        folders: dict[str, dict[str, Any]] = {}
        async for rows, _ in self._pages(bucket, base + prefix):
            for row in rows:
                entry = _listed_row(bucket, row)
                parts = entry["name"][len(root) + 1 :].split("/")
                for depth in range(1, len(parts)):
                    name = "/".join([root, *parts[:depth]])
                    if maxdepth is None or depth <= maxdepth:
                        folders.setdefault(name, _folder(name))
                is_marker = entry["name"].endswith("/")
                if not is_marker and (maxdepth is None or len(parts) <= maxdepth):
                    found[entry["name"]] = entry
        if withdirs:
            found.update(folders)
            if (found or key == "") and not prefix:
                found.setdefault(root, _folder(root))
        if not found and key and not prefix:
            try:
                info = await self._info(path)
            except FileNotFoundError:
                info = None
            if info is not None and (info["type"] == "file" or withdirs):
                found[info["name"]] = info
        names = sorted(found)
        return {name: found[name] for name in names} if detail else names

    async def _isdir(self, path: str) -> bool:
        return await self._is_type(path, "directory")

    # Writing

    async def _pipe_file(self, path: str, value: Any, mode: str = "overwrite", chunksize: int | None = None, **kwargs: Any) -> None:
        view = memoryview(value).cast("B") if not isinstance(value, bytes) or len(value) > self.part_size else value
        size, part = len(view), chunksize or _part_size(len(view), self.part_size)
        await self._upload(path, lambda at, many: bytes(view[at : at + many]), size, part, mode, kwargs)

    async def _put_file(
        self,
        lpath: Any,
        rpath: str,
        callback: Any = DEFAULT_CALLBACK,
        mode: str = "overwrite",
        chunksize: int | None = None,
        max_concurrency: int | None = None,
        resume: bool = False,
        **kwargs: Any,
    ) -> None:
        """Uploads a file.

        With ``resume`` the parts that have arrived survive a failure and the end of the process: the next call with the same file
        and path sends the others. A file that has changed is sent anew, and the parts of the old one are removed.
        """
        bucket, key = self.split_path(rpath)
        if os.path.isdir(lpath):
            if not key:
                await self._makedirs(bucket, exist_ok=True)
            return  # prefixes exist with their objects
        size = os.path.getsize(lpath)
        callback.set_size(size)
        kind = mimetypes.guess_type(os.fspath(lpath))[0]
        if kind and "ContentType" not in kwargs:
            kwargs["ContentType"] = kind
        part = chunksize or _part_size(size, self.part_size)
        kept = self._kept(lpath, rpath, part) if resume and size > part else None
        with contextlib.ExitStack() as closing:
            if kept is not None:
                closing.callback(kept.release)
            file = closing.enter_context(open(lpath, "rb"))

            def read(at: int, many: int) -> bytes:
                found = os.pread(file.fileno(), many, at)
                if len(found) != many:
                    raise OSError(f"{lpath} has become shorter while it was read")
                return found

            await self._upload(rpath, read, size, part, mode, kwargs, callback, max_concurrency, kept)

    def _kept(self, lpath: Any, rpath: str, part: int) -> Kept:
        found = os.stat(lpath)
        facts = {"size": found.st_size, "modified_ns": found.st_mtime_ns, "part": part}
        return Kept(self.service.url(*self._object_to_write(rpath)), os.path.realpath(lpath), facts)

    async def _upload(
        self,
        path: str,
        read: Callable[[int, int], bytes],
        size: int,
        part: int,
        mode: str,
        given: dict[str, Any],
        callback: Any = DEFAULT_CALLBACK,
        at_once: int | None = None,
        kept: Kept | None = None,
    ) -> None:
        """Sends an object in one request, or in parts at the same time. With ``kept`` an earlier upload is continued."""
        bucket, key = self._object_to_write(path)
        headers = {**self._written, **_named_headers(given)}
        if mode == "create":
            # Services that do not know the condition would overwrite.
            if await self._exists(path):
                raise S3Exists(path, "PreconditionFailed", "it exists already", 412)
            only_new = {"If-None-Match": "*"}
        elif mode == "overwrite":
            only_new = {}
        else:
            raise ValueError(f"mode is 'overwrite' or 'create', not {mode!r}")
        if size <= part:
            await self.service.call("PUT", bucket, key, headers={**headers, **only_new}, content=read(0, size))
            callback.relative_update(size)
            return
        numbers = range(1, -(-size // part) + 1)

        def content(number: int) -> bytes:
            at = (number - 1) * part
            return read(at, min(part, size - at))

        upload = None
        if kept is not None:
            upload, is_complete = await self._continued(kept, bucket, key, content, numbers)
            if is_complete:
                callback.relative_update(size)
                return
        if upload is None:
            upload = await _Parts.begin(self.service, bucket, key, headers)
            if kept is not None:
                kept.write(upload.number)
        begun = upload
        callback.relative_update(sum(min(part, size - (number - 1) * part) for number in numbers if begun.has(number)))

        async def send(number: int) -> None:
            piece = content(number)
            await begun.send(number, piece)
            callback.relative_update(len(piece))

        try:
            await _at_most(at_once or self.max_concurrency, send, [number for number in numbers if not begun.has(number)])
            await upload.complete(only_new)
        except BaseException:
            if kept is None:
                await asyncio.shield(upload.abort())
            raise
        if kept is not None:
            kept.forget()

    async def _continued(
        self, kept: Kept, bucket: str, key: str, content: Callable[[int], bytes], numbers: range
    ) -> tuple[_Parts | None, bool]:
        """Returns the unfinished upload of an earlier call, with the parts of it that are those of the file, and whether the object
        is complete already."""
        record = kept.read()
        if not record:
            return None, False
        upload = _Parts(self.service, bucket, key, record["upload"])
        if not kept.is_of(record):
            await upload.abort()
            kept.forget()
            return None, False
        try:
            there = await upload.stored()
        except S3NotFound:
            # It was completed, and its process ended before it noticed; or somebody has aborted it.
            is_complete = await self._is_complete(bucket, key, content, numbers)
            kept.forget()
            return None, is_complete
        for number, (size, tag) in there.items():
            piece = content(number) if number in numbers else b""
            if size == len(piece) and tag.strip('"') == md5(piece):
                upload.take(number, tag)
        return upload, False

    async def _is_complete(self, bucket: str, key: str, content: Callable[[int], bytes], numbers: range) -> bool:
        try:
            reply = await self.service.call("HEAD", bucket, key)
        except S3NotFound:
            return False
        return reply.headers.get("etag", "").strip('"') == tag_of_parts([md5(content(number)) for number in numbers])

    async def _cp_file(self, path1: str, path2: str, **kwargs: Any) -> None:
        (bucket1, key1), (bucket2, key2) = self._object(path1), self._object_to_write(path2)
        try:
            head = await self.service.call("HEAD", bucket1, key1, query=self._version_query(path1))
            size = int(head.headers.get("content-length", "0"))
        except S3NotFound:
            if await self._isdir(path1):
                return  # prefixes exist with their objects
            raise
        version = self._version_of(path1)
        source = {"x-amz-copy-source": quote(f"/{bucket1}/{key1}", safe="/~") + (version and _VERSION + quote(version, safe="~"))}
        headers = {**self._written, **_named_headers(kwargs)}
        if size <= _LARGEST_COPY:
            await self.service.call("PUT", bucket2, key2, headers={**headers, **source})
            return
        upload = await _Parts.begin(self.service, bucket2, key2, headers)

        async def copy(number: int) -> None:
            first = (number - 1) * _COPIED_PART
            await upload.copy(number, source, first, min(first + _COPIED_PART, size))

        try:
            await _at_most(self.max_concurrency, copy, range(1, -(-size // _COPIED_PART) + 1))
            await upload.complete({})
        except BaseException:
            await asyncio.shield(upload.abort())
            raise

    async def _touch(self, path: str, truncate: bool = True, **kwargs: Any) -> None:
        if not truncate and await self._exists(path):
            raise ValueError(f"{path}: S3 cannot change when an object was modified without writing it")
        await self._pipe_file(path, b"", **kwargs)

    def touch(self, path: str, truncate: bool = True, **kwargs: Any) -> None:
        """Creates an empty object."""
        waited(self, self._touch, path, truncate=truncate, **kwargs)

    # Removing

    async def _rm_file(self, path: str, **kwargs: Any) -> None:
        bucket, key = self.split_path(path)
        if key:
            await self.service.call("DELETE", bucket, key, query=self._version_query(path))
        else:
            await self._rmdir(path)

    async def _rm(self, path: Any, recursive: bool = False, batch_size: int | None = None, **kwargs: Any) -> None:
        by_bucket: dict[str, list[str]] = {}
        buckets = []
        for one in await self._expand_path(path, recursive=False):
            if self._version_of(one):
                await self._rm_file(one)
                continue
            bucket, key = self.split_path(one)
            keys = by_bucket.setdefault(bucket, [])
            keys += [key] if key else []
            if recursive:
                # Markers of directories, whose key ends in a slash, are removed as well.
                below = [row.findtext("Key") async for rows, _ in self._pages(bucket, key + "/" if key else "") for row in rows]
                if key and not below:
                    await self._info(one)
                keys += below
            if not key:
                buckets.append(bucket)
        batches = [
            (bucket, keys[at : at + _IN_ONE_DELETE]) for bucket, keys in by_bucket.items() for at in range(0, len(keys), _IN_ONE_DELETE)
        ]
        await _at_most(self.max_concurrency, lambda batch: self._delete(*batch), batches)
        for bucket in buckets:
            await self._rmdir(bucket)

    async def _delete(self, bucket: str, keys: list[str]) -> None:
        if len(keys) == 1:
            await self.service.call("DELETE", bucket, keys[0])
            return
        rows = "".join(f"<Object><Key>{escape(key)}</Key></Object>" for key in keys)
        body = f'<?xml version="1.0" encoding="UTF-8"?><Delete><Quiet>true</Quiet>{rows}</Delete>'.encode()
        reply = await self.service.call("POST", bucket, query={"delete": ""}, headers=_xml_headers(body), content=body)
        root = parsed(reply.content)
        for error in root.iter("Error"):
            code = text_of(error, "Code")
            kind = S3Denied if code == "AccessDenied" else S3Error
            raise kind(f"{bucket}/{text_of(error, 'Key')}", code, text_of(error, "Message"), 200)

    # Buckets

    async def _mkdir(
        self, path: str, create_parents: bool = True, acl: str = "", region_name: str | None = None, **kwargs: Any
    ) -> None:
        bucket, key = self.split_path(path)
        if not bucket:
            raise ValueError("a bucket has a name")
        if key:
            if not create_parents or await self._exists(bucket):
                await self._info(bucket)
                return  # prefixes exist with their objects
        elif await self._exists(bucket):
            # Some services answer 200 to the owner.
            raise S3Exists(bucket, "BucketAlreadyOwnedByYou", "it exists already", 409)
        region, body = region_name or self.service.region, b""
        if region != "us-east-1":
            body = f"<CreateBucketConfiguration><LocationConstraint>{region}</LocationConstraint></CreateBucketConfiguration>".encode()
        await self.service.call("PUT", bucket, headers={"x-amz-acl": acl} if acl else {}, content=body)

    async def _makedirs(self, path: str, exist_ok: bool = False) -> None:
        try:
            await self._mkdir(path, create_parents=True)
        except FileExistsError:
            if not exist_ok:
                raise

    async def _rmdir(self, path: str) -> None:
        bucket, key = self.split_path(path)
        if key:
            if await self._exists(path):
                raise FileExistsError(f"{path}: only buckets are directories of their own; rm(path, recursive=True) removes a prefix")
            raise FileNotFoundError(path)
        await self.service.call("DELETE", bucket)

    def rmdir(self, path: str) -> None:
        """Removes an empty bucket."""
        waited(self, self._rmdir, path)

    async def _is_bucket_versioned(self, bucket: str) -> bool:
        reply = await self.service.call("GET", self.split_path(bucket)[0], query={"versioning": ""})
        return text_of(parsed(reply.content), "Status") == "Enabled"

    def is_bucket_versioned(self, bucket: str) -> bool:
        """Returns whether the bucket keeps the versions of its objects."""
        return waited(self, self._is_bucket_versioned, bucket)

    async def _make_bucket_versioned(self, bucket: str, versioned: bool = True) -> None:
        status = "Enabled" if versioned else "Suspended"
        body = f"<VersioningConfiguration><Status>{status}</Status></VersioningConfiguration>".encode()
        await self.service.call("PUT", self.split_path(bucket)[0], query={"versioning": ""}, headers=_xml_headers(body), content=body)

    def make_bucket_versioned(self, bucket: str, versioned: bool = True) -> None:
        """Makes the bucket keep the versions of its objects, or no further ones."""
        waited(self, self._make_bucket_versioned, bucket, versioned)

    # Tags

    async def _get_tags(self, path: str) -> dict[str, str]:
        bucket, key = self._object(path)
        reply = await self.service.call("GET", bucket, key, query={"tagging": "", **self._version_query(path)})
        return {text_of(tag, "Key"): text_of(tag, "Value") for tag in parsed(reply.content).iter("Tag")}

    def get_tags(self, path: str) -> dict[str, str]:
        """Returns the tags of an object."""
        return waited(self, self._get_tags, path)

    async def _put_tags(self, path: str, tags: dict[str, str], mode: str = "o") -> None:
        if mode not in ("o", "m"):
            raise ValueError(f"mode is 'o' (overwrite) or 'm' (merge), not {mode!r}")
        bucket, key = self._object(path)
        rows = "".join(
            f"<Tag><Key>{escape(name)}</Key><Value>{escape(value)}</Value></Tag>"
            for name, value in {**(await self._get_tags(path) if mode == "m" else {}), **tags}.items()
        )
        body = f"<Tagging><TagSet>{rows}</TagSet></Tagging>".encode()
        query = {"tagging": "", **self._version_query(path)}
        await self.service.call("PUT", bucket, key, query=query, headers=_xml_headers(body), content=body)

    def put_tags(self, path: str, tags: dict[str, str], mode: str = "o") -> None:
        """Sets the tags of an object: in place of those that it has, or with mode ``"m"`` beside them."""
        waited(self, self._put_tags, path, tags, mode)

    # Facts

    def modified(self, path: str, version_id: str | None = None) -> datetime:
        """Returns when the object was written."""
        info = self.info(path, version_id=version_id)
        if info["type"] != "file":
            raise IsADirectoryError(path)
        found: datetime = info["LastModified"]
        return found

    def created(self, path: str) -> datetime:
        """Returns when the object was written: an object is never changed, only replaced."""
        return self.modified(path)

    def checksum(self, path: str, refresh: bool = False) -> int:
        """Returns a number that changes with the content: of the object's tag, or of the listing of a prefix."""
        info = self.info(path)
        text = info["ETag"].strip('"') if info["type"] == "file" else str(sorted(self.find(path, detail=True)))
        return int(hashlib.sha256(text.encode()).hexdigest(), 16)

    async def _url(self, path: str, expires: int = 3600, client_method: str = "get_object", **kwargs: Any) -> str:
        bucket, key = self._object(path)
        source = self.service.source
        if source is None:
            return self.service.url(bucket, key, self._version_query(path))
        method = {"get_object": "GET", "put_object": "PUT", "head_object": "HEAD", "delete_object": "DELETE"}.get(client_method)
        if method is None:
            raise ValueError(f"{client_method!r}: get_object, put_object, head_object or delete_object")
        keys = await source.get()
        url, version = self.service.url(bucket, key), self._version_query(path)
        return _presigned(method, url, keys, self.service.region, expires, datetime.now(timezone.utc), version)

    def url(self, path: str, expires: int = 3600, client_method: str = "get_object", **kwargs: Any) -> str:
        """Returns a signed URL with which anybody may read the object for ``expires`` seconds."""
        return waited(self, self._url, path, expires, client_method, **kwargs)

    def sign(self, path: str, expiration: int = 100, **kwargs: Any) -> str:
        """Returns a signed URL, as :meth:`url`."""
        return self.url(path, expires=expiration, **kwargs)

    # Open files

    def _open(
        self,
        path: str,
        mode: str = "rb",
        block_size: int | None = None,
        autocommit: bool = True,
        cache_type: str | None = None,
        cache_options: dict[str, Any] | None = None,
        size: int | None = None,
        version_id: str | None = None,
        **kwargs: Any,
    ) -> Any:
        path = self._at_version(path, version_id)
        if mode not in ("rb", "wb", "ab", "xb"):
            raise ValueError(f"{mode!r} is no way to open a file")
        self._object(path)
        if mode == "rb":
            info = self.info(path)
            if info["type"] == "directory":
                raise IsADirectoryError(path)
            if self.version_aware and info["VersionId"]:
                path = self._at_version(path, info["VersionId"])
            return _Object(
                self, path, "rb", block_size or self.block_size, cache_type=cache_type or self.cache_type,
                cache_options=cache_options, details=info if size is None else {**info, "size": size},
            )  # fmt: skip
        self._object_to_write(path)
        return _Written(self, path, mode, block_size or self.part_size, autocommit=autocommit, headers=_named_headers(kwargs))

    async def open_async(self, path: str, mode: str = "rb", **kwargs: Any) -> Streamed:
        """Opens the object for one read from beginning to end."""
        if mode != "rb":
            raise NotImplementedError("only reading is asynchronous")
        return Streamed(self, path, "rb")


class _Parts:
    """An upload in parts, which are an object once it is complete."""

    def __init__(self, service: Service, bucket: str, key: str, number: str) -> None:
        self._service, self._bucket, self._key, self._id = service, bucket, key, number
        self._tags: dict[int, str] = {}

    @property
    def number(self) -> str:
        """The service's name of the upload."""
        return self._id

    def has(self, number: int) -> bool:
        """Whether the part has arrived."""
        return number in self._tags

    def take(self, number: int, tag: str) -> None:
        """Takes a part that has arrived before."""
        self._tags[number] = tag

    async def stored(self) -> dict[int, tuple[int, str]]:
        """Returns size and ETag of the parts that the service has (ListParts)."""
        query, found = {"uploadId": self._id}, {}
        while True:
            root = parsed((await self._service.call("GET", self._bucket, self._key, query=query)).content)
            for row in root.findall("Part"):
                found[int(text_of(row, "PartNumber"))] = (int(text_of(row, "Size")), text_of(row, "ETag"))
            following = text_of(root, "NextPartNumberMarker")
            if text_of(root, "IsTruncated") != "true" or following in ("", query.get("part-number-marker")):
                return found
            query["part-number-marker"] = following

    @classmethod
    async def begin(cls, service: Service, bucket: str, key: str, headers: dict[str, str]) -> _Parts:
        """Starts an upload; the headers are those of the object."""
        reply = await service.call("POST", bucket, key, query={"uploads": ""}, headers=headers)
        return cls(service, bucket, key, text_of(parsed(reply.content), "UploadId"))

    def _query(self, number: int) -> dict[str, str]:
        return {"partNumber": str(number), "uploadId": self._id}

    async def send(self, number: int, content: bytes) -> None:
        """Sends a part. Numbers begin at 1."""
        reply = await self._service.call("PUT", self._bucket, self._key, query=self._query(number), content=content)
        self._tags[number] = reply.headers.get("etag", "")

    async def copy(self, number: int, source: dict[str, str], first: int = 0, end: int | None = None) -> None:
        """Has the service copy a part from another object; all of it by default."""
        headers = source if end is None else {**source, "x-amz-copy-source-range": f"bytes={first}-{end - 1}"}
        reply = await self._service.call("PUT", self._bucket, self._key, query=self._query(number), headers=headers)
        self._tags[number] = text_of(parsed(reply.content), "ETag")

    async def complete(self, headers: dict[str, str]) -> Response:
        """Makes the parts an object."""
        rows = "".join(
            f"<Part><PartNumber>{number}</PartNumber><ETag>{escape(tag)}</ETag></Part>" for number, tag in sorted(self._tags.items())
        )
        body = f"<CompleteMultipartUpload>{rows}</CompleteMultipartUpload>".encode()
        return await self._service.call("POST", self._bucket, self._key, query={"uploadId": self._id}, headers=headers, content=body)

    async def abort(self) -> None:
        """Has the service forget the parts, which would cost money. Failures are ignored: an error is on its way to the caller."""
        with contextlib.suppress(S3Error, RequestError):
            await self._service.call("DELETE", self._bucket, self._key, query={"uploadId": self._id})


class _Object(Read):
    """An object that is read in pieces, all of one version: ``version_id``, if the file system reads versions."""

    def __init__(self, *args: Any, details: dict[str, Any], **kwargs: Any) -> None:
        super().__init__(*args, size=details["size"], **kwargs)
        self.details = details
        self.version_id: str | None = self.fs._version_of(self.path) or None

    def _fetch_range(self, start: int, end: int) -> bytes:
        try:
            files: S3FileSystem = self.fs
            return waited(files, files._piece, self.path, start, end, self.details.get("ETag"))
        except S3Error as error:
            if error.status == 412:
                raise FileExpired(self.path) from error
            raise


class NoObject(IsADirectoryError, ValueError):
    """A bucket was given where an object is needed."""


class FileExpired(OSError):
    """An object that was opened has been replaced since."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} was replaced after it was opened: open it again")


class _Written(AbstractBufferedFile):
    """An object that is written: parts are sent while the program goes on."""

    buffer: io.BytesIO
    offset: int | None

    def __init__(self, fs: S3FileSystem, path: str, mode: str, block_size: int, autocommit: bool, headers: dict[str, str]) -> None:
        if block_size < _SMALLEST_PART:
            raise ValueError(f"block_size is at least {_SMALLEST_PART} for writing: S3 accepts no smaller parts")
        super().__init__(fs, path, mode, block_size=block_size, autocommit=autocommit, cache_type="none")
        self._bucket, self._key = fs.split_path(path)
        self._headers, self._is_done = {**fs._written, **headers}, False
        self._upload: _Parts | None = None
        self._sending: list[Any] = []
        self._number, self._last = 0, b""
        self.version_id: str | None = None
        try:
            if mode == "xb" and fs.exists(path):
                raise S3Exists(path, "PreconditionFailed", "it exists already", 412)
            if mode == "ab" and fs.exists(path):
                self._go_on(fs.info(path)["size"])
        except BaseException:
            self.discard()
            self.closed = True  # its finalizer has nothing to send
            raise

    def _go_on(self, size: int) -> None:
        """Begins with what is there: copied as a part if that is large enough."""
        if size < _SMALLEST_PART or size > _LARGEST_COPY:
            held = self.fs.cat_file(self.path)
            self.buffer.write(held)
        else:
            self._begin()
            self._number = 1
            source = {"x-amz-copy-source": quote(f"/{self._bucket}/{self._key}", safe="/~")}
            waited(self.fs, self._parts.copy, 1, source)
        self.loc = size

    @property
    def _parts(self) -> _Parts:
        assert self._upload is not None  # _begin comes first
        return self._upload

    def _begin(self) -> None:
        self._upload = waited(self.fs, _Parts.begin, self.fs.service, self._bucket, self._key, self._headers)

    def _initiate_upload(self) -> None:
        """Does nothing yet: a small object needs no parts."""

    def _upload_chunk(self, final: bool = False) -> bool:
        view = self.buffer.getbuffer()
        size = max(self.blocksize, _part_size(self.loc, self.blocksize))
        at = 0
        if final and self._upload is None and len(view) <= size:
            self._last = bytes(view)
            view.release()
            if self.autocommit:
                self.commit()
            return True
        if self._upload is None:
            self._begin()
        while len(view) - at >= size or final and len(view) - at:
            many = min(size, len(view) - at)
            self._send(bytes(view[at : at + many]))
            at += many
        rest = bytes(view[at:])
        view.release()
        # fsspec clears its buffer after a True: the rest stays when it is not the end.
        self.buffer = io.BytesIO(rest)
        self.buffer.seek(0, io.SEEK_END)
        self.offset = (self.offset or 0) + at
        if final and self.autocommit:
            self.commit()
        return False

    def _send(self, content: bytes) -> None:
        self._number += 1
        while len(self._sending) >= self.fs.max_concurrency:
            self._sending.pop(0).result()
        self._sending.append(asyncio.run_coroutine_threadsafe(self._parts.send(self._number, content), self.fs.loop))

    def commit(self) -> None:
        """Makes the object visible."""
        if self._is_done:
            return
        only_new = {"If-None-Match": "*"} if self.mode == "xb" else {}
        if self._upload is None:
            headers = {**self._headers, **only_new}
            service: Service = self.fs.service
            reply = waited(self.fs, service.call, "PUT", self._bucket, self._key, headers=headers, content=self._last)
        else:
            try:
                while self._sending:
                    self._sending.pop(0).result()
                reply = waited(self.fs, self._parts.complete, only_new)
            except BaseException:
                self.discard()
                raise
        if self.fs.version_aware:
            self.version_id = reply.headers.get("x-amz-version-id")
        self._is_done = True
        self._last = b""

    def discard(self) -> None:
        """Drops what was written."""
        if self._is_done:
            return
        self._is_done = True
        for task in self._sending:
            task.cancel()
        self._sending.clear()
        if self._upload is not None:
            waited(self.fs, self._upload.abort)

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is not None:
            self.discard()
            self.closed = True
        else:
            self.close()

    def close(self) -> None:
        """Sends the rest; the object then exists, unless a transaction decides later."""
        if self.closed:
            return
        try:
            if not self._is_done and not self.forced:
                self.flush(force=True)
        except BaseException:
            self.discard()
            raise
        finally:
            self.closed = True


async def _at_most(limit: int, work: Callable[[Any], Awaitable[None]], items: Iterable[Any]) -> None:
    """Runs ``work`` for each item, at most ``limit`` at a time. The first failure cancels the others."""
    waiting = iter(items)

    async def worker() -> None:
        for item in waiting:
            await work(item)

    tasks = [asyncio.ensure_future(worker()) for _ in range(limit)]
    try:
        await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


def _part_size(size: int, wanted: int) -> int:
    """Returns the size of parts for an object: at most 9,000 of them, for what is written may still grow."""
    return max(wanted, -(-size // 9000))


def _named_headers(given: dict[str, Any]) -> dict[str, str]:
    found = {}
    for name, value in given.items():
        if name == "Metadata":
            found.update({f"x-amz-meta-{key}": str(each) for key, each in value.items()})
        elif name in _HEADERS:
            found[_HEADERS[name]] = str(value)
        else:
            raise TypeError(f"unknown argument: {name}")
    return found


def _xml_headers(body: bytes) -> dict[str, str]:
    """Returns the headers of a request whose body is XML; services want its digest."""
    digest = base64.b64encode(hashlib.md5(body, usedforsecurity=False).digest()).decode()
    return {"Content-MD5": digest, "Content-Type": "application/xml"}


def _named_version(entry: dict[str, Any]) -> dict[str, Any]:
    """Returns an entry of a listing with its version in the name. Objects older than the versions of their bucket have none."""
    version = entry.get("VersionId") or "null"
    return entry if version == "null" else {**entry, "name": entry["name"] + _VERSION + version}


def _moment(text: str) -> datetime:
    return datetime.strptime(text[:19], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc)


def _folder(name: str) -> dict[str, Any]:
    return {"name": name, "size": 0, "type": "directory", "StorageClass": "DIRECTORY"}


def _listed_row(bucket: str, row: Any) -> dict[str, Any]:
    key, size = row.findtext("Key"), int(text_of(row, "Size") or 0)
    return {
        "name": f"{bucket}/{key}",
        "Key": f"{bucket}/{key}",
        "size": size,
        "Size": size,
        "type": "directory" if key.endswith("/") and not size else "file",
        "ETag": text_of(row, "ETag"),
        "LastModified": _moment(text_of(row, "LastModified")),
        "StorageClass": text_of(row, "StorageClass") or "STANDARD",
        **({"VersionId": text_of(row, "VersionId"), "IsLatest": text_of(row, "IsLatest") == "true"} if row.tag == "Version" else {}),
    }


def _described(path: str, reply: Any) -> dict[str, Any]:
    headers = reply.headers
    size = int(headers.get("content-length", 0))
    return {
        "name": path,
        "Key": path,
        "size": size,
        "Size": size,
        "type": "file",
        "ETag": headers.get("etag", ""),
        "LastModified": parsedate_to_datetime(headers["last-modified"]) if "last-modified" in headers else datetime.now(timezone.utc),
        "StorageClass": headers.get("x-amz-storage-class", "STANDARD"),
        "VersionId": headers.get("x-amz-version-id"),
        "ContentType": headers.get("content-type"),
    }


def _presigned(
    method: str, url: str, keys: Credentials, region: str, expires: int, now: datetime, query: dict[str, str] | None = None
) -> str:
    """Returns the URL with its signature in the query (Signature Version 4)."""
    parts = urlsplit(url)
    day, stamp = now.strftime("%Y%m%d"), now.strftime("%Y%m%dT%H%M%SZ")
    scope = f"{day}/{region}/s3/aws4_request"
    words = {
        **(query or {}),
        "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
        "X-Amz-Credential": f"{keys.access_key}/{scope}",
        "X-Amz-Date": stamp,
        "X-Amz-Expires": str(expires),
        "X-Amz-SignedHeaders": "host",
        **({"X-Amz-Security-Token": keys.token} if keys.token else {}),
    }
    signed = "&".join(f"{quote(name, safe='~')}={quote(value, safe='~')}" for name, value in sorted(words.items()))
    canonical = "\n".join([method, parts.path, signed, f"host:{parts.netloc}", "", "host", "UNSIGNED-PAYLOAD"])
    wanted = "\n".join(["AWS4-HMAC-SHA256", stamp, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = b"AWS4" + keys.secret_key.encode()
    for part in (day, region, "s3", "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return f"{url}?{signed}&X-Amz-Signature={hmac.new(key, wanted.encode(), hashlib.sha256).hexdigest()}"


__all__ = ["Credentials", "CredentialsError", "FileExpired", "NoObject", "S3Denied", "S3Error", "S3Exists", "S3FileSystem", "S3NotFound", "register"]
