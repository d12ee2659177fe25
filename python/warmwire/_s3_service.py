"""Requests to Amazon S3 and services that are compatible with it: addresses, signatures, retries, errors.

The engine signs (Signature Version 4, curl's ``AWS_SIGV4``). https://docs.aws.amazon.com/AmazonS3/latest/API/
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote, unquote_plus, urlsplit
from xml.etree import ElementTree

from ._aws import CredentialSource, FixedSource
from ._client import AsyncClient
from ._errors import RequestError
from ._models import Response
from ._retry import BUSY, is_transient, pause

_BUSY_CODES = frozenset({"SlowDown", "RequestTimeout", "InternalError", "ServiceUnavailable", "Throttling", "ThrottlingException"})
_EXPIRED = frozenset({"ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired"})
_ELSEWHERE = frozenset({"PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException"})
_MISSING = frozenset({"NoSuchKey", "NoSuchBucket", "NoSuchUpload", "NoSuchVersion"})
_BUCKET = re.compile(r"[a-z0-9][a-z0-9-]{1,61}[a-z0-9]")


class S3Error(OSError):
    """A request that the service refused; ``code`` is the service's word, for instance ``InvalidPart``."""

    def __init__(self, path: str, code: str, message: str, status: int) -> None:
        super().__init__(f"{path}: {code or status}{': ' if message else ''}{message}")
        self.code, self.status = code, status


class S3NotFound(S3Error, FileNotFoundError):
    """There is no such object or bucket."""


class S3Denied(S3Error, PermissionError):
    """Access is denied, or the signature is wrong."""


class S3Exists(S3Error, FileExistsError):
    """The object or bucket exists already."""


class Service:
    """One service with its credentials."""

    def __init__(
        self,
        client: dict[str, Any],
        *,
        source: CredentialSource | FixedSource | None,
        region: str,
        endpoint: str | None,
        addressing: str = "auto",
        requester_pays: bool = False,
        retries: int = 5,
    ) -> None:
        if addressing not in ("auto", "virtual", "path"):
            raise ValueError(f"addressing is 'auto', 'virtual' or 'path', not {addressing!r}")
        if endpoint is not None and urlsplit(endpoint).scheme not in ("http", "https"):
            raise ValueError(f"the endpoint is a URL of http or https, not {endpoint!r}")
        self.client = AsyncClient(**client)
        self.source, self.region, self.endpoint = source, region, endpoint.rstrip("/") if endpoint else None
        self.addressing, self.requester_pays, self.retries = addressing, requester_pays, retries
        self._regions: dict[str, str] = {}

    def url(self, bucket: str, key: str = "", query: dict[str, str] | None = None) -> str:
        """Returns the URL of a service, bucket or object."""
        region = self._regions.get(bucket, self.region)
        root = self.endpoint or f"https://s3.{region}.amazonaws.com{'.cn' if region.startswith('cn-') else ''}"
        scheme, _, host = root.partition("://")
        if bucket and self._is_virtual(bucket, host):
            path = f"{scheme}://{bucket}.{host}/"
        else:
            path = f"{root}/{quote(bucket, safe='')}" + ("/" if bucket and key else "")
        words = "&".join(f"{quote(name, safe='~')}={quote(value, safe='~')}" for name, value in sorted((query or {}).items()))
        return path + quote(key, safe="/~") + (f"?{words}" if words else "")

    def _is_virtual(self, bucket: str, host: str) -> bool:
        if self.addressing != "auto":
            return self.addressing == "virtual"
        # A wildcard certificate covers no name with more dots. Compatible services often have no names for buckets.
        return self.endpoint is None and _BUCKET.fullmatch(bucket) is not None and not _is_address(host)

    async def call(
        self,
        method: str,
        bucket: str = "",
        key: str = "",
        query: dict[str, str] | None = None,
        headers: dict[str, str] | None = None,
        content: bytes | None = None,
        stream: bool = False,
        retries: int | None = None,
    ) -> Response:
        """Sends a request until it succeeds. Retries what is worth a retry, after a pause of random length."""
        path = f"{bucket}/{key}" if key else bucket or "s3://"
        left = self.retries if retries is None else retries
        attempt = moves = renewals = 0
        while True:
            try:
                reply = await self._once(method, bucket, key, query, headers, content, stream)
            except RequestError as error:
                if not is_transient(error) or attempt >= left:
                    raise
            else:
                if reply.status_code < 300 and (stream or method == "HEAD" or not _has_error(reply)):
                    return reply
                found = await _error_of(path, reply)
                if found.code in _EXPIRED and self.source is not None and not renewals:
                    renewals += 1
                    self.source.forget()
                    continue
                if not moves and self._has_moved(bucket, reply, found):
                    moves += 1
                    continue
                if found.code not in _BUSY_CODES and reply.status_code not in BUSY or attempt >= left:
                    raise found
            attempt += 1
            await asyncio.sleep(pause(attempt))

    async def _once(
        self, method: str, bucket: str, key: str, query: Any, headers: dict[str, str] | None, content: bytes | None, stream: bool
    ) -> Response:
        rows = dict(headers or {})
        # Objects are stored as they are, in whatever coding: nothing is decoded.
        options: dict[str, Any] = {"ACCEPT_ENCODING": None, "PATH_AS_IS": 1}
        if self.requester_pays and bucket:
            rows["x-amz-request-payer"] = "requester"
        if self.source is not None:
            keys = await self.source.get()
            options["AWS_SIGV4"] = f"aws:amz:{self._regions.get(bucket, self.region)}:s3"
            options["USERNAME"], options["PASSWORD"] = keys.access_key, keys.secret_key
            if keys.token:
                rows["x-amz-security-token"] = keys.token
        if method in ("PUT", "POST") and content is None:
            content = b""
        request = self.client.build_request(method, self.url(bucket, key, query), headers=rows, content=content)
        return await self.client.send(request, stream=stream, options=options)

    def _has_moved(self, bucket: str, reply: Response, error: S3Error) -> bool:
        """Learns the region of a bucket from a refusal."""
        if self.endpoint is not None or not bucket:
            return False
        if reply.status_code not in (301, 307) and error.code not in _ELSEWHERE and reply.status_code != 400:
            return False
        region = reply.headers.get("x-amz-bucket-region") or getattr(error, "region", None)
        if not region or region == self._regions.get(bucket, self.region) or not re.fullmatch(r"[a-z0-9-]+", region):
            return False
        self._regions[bucket] = region
        return True

    async def pieces(
        self, bucket: str, key: str, query: dict[str, str] | None = None, headers: dict[str, str] | None = None
    ) -> AsyncIterator[Any]:
        """Yields the reply and then the pieces of an object. After a break it goes on where it was, if the object is unchanged."""
        at, etag, attempt, is_begun = 0, "", 0, False
        while True:
            rows = dict(headers or {})
            if at:
                rows["Range"], rows["If-Match"] = f"bytes={at}-", etag
            reply = await self.call("GET", bucket, key, query=query, headers=rows, stream=True)
            try:
                if not is_begun:
                    is_begun, etag = True, reply.headers.get("etag", "")
                    yield reply
                async for piece in reply.aiter_bytes():
                    at += len(piece)
                    yield piece
                return
            except RequestError as error:
                attempt += 1
                if not etag or not is_transient(error) or attempt > self.retries:
                    raise
                await asyncio.sleep(pause(attempt))
            finally:
                reply.close()


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address((urlsplit("//" + host).hostname or "").strip("[]"))
    except ValueError:
        return False
    return True


def _has_error(reply: Response) -> bool:
    """Whether a reply of 200 is an error all the same: copies and completed uploads report it in the body."""
    content = reply.content
    return len(content) < 4096 and b"<Error>" in content


async def _error_of(path: str, reply: Response) -> S3Error:
    body = b""
    try:
        body = await reply.aread()
    except RequestError:
        pass  # the status says enough
    finally:
        reply.close()
    code = message = region = ""
    try:
        root = parsed(body) if body.strip() else None
    except ValueError:
        root = None
    if root is not None:
        error = root if root.tag == "Error" else root.find("Error")
        if error is not None:
            code, message, region = (text_of(error, name) for name in ("Code", "Message", "Region"))
    status = reply.status_code
    kind: type[S3Error] = S3Error
    if code in _MISSING or status == 404:
        kind = S3NotFound
    elif status in (401, 403):
        kind = S3Denied
    elif code in ("BucketAlreadyExists", "BucketAlreadyOwnedByYou", "PreconditionFailed") and "If-Match" not in reply.request.headers:
        kind = S3Exists
    found = kind(path, code, message or ("" if code else reply.reason_phrase), status)
    found.region = region  # type: ignore[attr-defined]
    return found


def parsed(body: bytes) -> Any:
    """Parses XML and removes its name space."""
    try:
        root = ElementTree.fromstring(body)  # noqa: S314
    except ElementTree.ParseError as error:
        raise ValueError(f"the reply is not XML: {body[:80]!r}") from error
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    return root


def text_of(element: Any, name: str) -> str:
    """Returns the text of a child; empty if there is none."""
    return element.findtext(name) or ""


_MARKERS = {"NextContinuationToken": "continuation-token", "NextKeyMarker": "key-marker", "NextVersionIdMarker": "version-id-marker"}


def listed(reply: Response) -> tuple[list[Any], list[str], dict[str, str]]:
    """Returns the objects or versions, the common prefixes, and the query of the next page of a listing; empty at the end."""
    root = parsed(reply.content)
    is_encoded = text_of(root, "EncodingType") == "url"

    def name(text: str) -> str:
        return unquote_plus(text) if is_encoded else text

    rows = [*root.findall("Contents"), *root.findall("Version")]
    for row in rows:
        key = row.find("Key")
        key.text = name(key.text or "")
    prefixes = [name(text_of(row, "Prefix")) for row in root.findall("CommonPrefixes")]
    if text_of(root, "IsTruncated") != "true":
        return rows, prefixes, {}
    markers = {word: text_of(root, field) for field, word in _MARKERS.items()}
    markers["key-marker"] = name(markers["key-marker"])
    return rows, prefixes, {word: value for word, value in markers.items() if value}


__all__ = ["S3Denied", "S3Error", "S3Exists", "S3NotFound", "Service", "listed", "parsed", "text_of"]
