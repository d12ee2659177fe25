"""Sessions of requests."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from ... import _errors as errors
from ..._client import Client
from ..._models import USER_AGENT, Auth, Timeout, copied
from ..._models import Request as _Request
from ..._settings import _matches
from . import exceptions
from .adapters import HTTPAdapter
from .cookies import RequestsCookieJar
from .models import PreparedRequest, Request, Response
from .structures import CaseInsensitiveDict


def default_headers() -> CaseInsensitiveDict:
    """Returns the fields of a new session."""
    names = {"User-Agent": USER_AGENT, "Accept-Encoding": "deflate, gzip, br, zstd", "Accept": "*/*"}
    return CaseInsensitiveDict({**names, "Connection": "keep-alive"})


def _merged(given: Any, own: Any) -> Any:
    if own is None or given is None:
        return own if given is None else given
    if not isinstance(given, Mapping) or not isinstance(own, Mapping):
        return given
    found = CaseInsensitiveDict(own) if isinstance(own, CaseInsensitiveDict) else dict(own)
    for name, value in given.items():
        if value is None:
            found.pop(name, None)
        else:
            found[name] = value
    return found


class Session:
    """Settings, cookies and connections for several requests."""

    def __init__(self) -> None:
        self.headers = default_headers()
        self.auth: Any = None
        self.proxies: dict[str, str] = {}
        self.hooks: dict[str, list[Any]] = {"response": []}
        self.params: Any = {}
        self.stream = False
        self.verify: Any = True
        self.cert: Any = None
        self.max_redirects = 30
        self.trust_env = True
        self.cookies = RequestsCookieJar()
        self.adapters: dict[str, Any] = {"https://": HTTPAdapter(), "http://": HTTPAdapter()}
        self._client = Client(timeout=None)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def mount(self, prefix: str, adapter: Any) -> None:
        """Uses an adapter for URLs with this beginning."""
        self.adapters[prefix] = adapter

    def get_adapter(self, url: str) -> Any:
        """Returns the adapter with the longest prefix of a URL."""
        for prefix in sorted(self.adapters, key=len, reverse=True):
            if url.lower().startswith(prefix.lower()):
                return self.adapters[prefix]
        raise exceptions.InvalidSchema(f"No connection adapters were found for {url!r}")

    def prepare_request(self, request: Request) -> PreparedRequest:
        """Returns what is sent, with the session's settings."""
        found = PreparedRequest()
        for name, value in dict(request.headers or {}).items():
            found._set_header(name, value)
        auth = request.auth if request.auth is not None else self.auth
        if auth is None and self.trust_env and "authorization" not in CaseInsensitiveDict(request.headers):
            auth = _netrc(str(request.url))
        found.prepare(
            method=request.method,
            url=request.url,
            headers=_merged(request.headers, self.headers),
            files=request.files,
            data=request.data,
            json=request.json,
            params=_merged(request.params, self.params) or request.params,
            auth=auth,
            hooks=request.hooks,
        )
        found._cookies = request.cookies
        # Only cookies without a domain: the engine adds those of the jar that belong to the host.
        mine = {**self.cookies._plain, **copied(request.cookies)._plain}
        if mine and "cookie" not in found.headers:
            found.headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in mine.items())
        return found

    def request(
        self,
        method: str,
        url: Any,
        params: Any = None,
        data: Any = None,
        headers: Any = None,
        cookies: Any = None,
        files: Any = None,
        auth: Any = None,
        timeout: Any = None,
        allow_redirects: bool = True,
        proxies: Any = None,
        hooks: Any = None,
        stream: bool | None = None,
        verify: Any = None,
        cert: Any = None,
        json: Any = None,
    ) -> Response:
        """Sends a request."""
        made = Request(method, url, headers, files, data, params, auth, cookies, hooks, json)
        return self.send(
            self.prepare_request(made),
            timeout=timeout,
            allow_redirects=allow_redirects,
            proxies=proxies,
            stream=stream,
            verify=verify,
            cert=cert,
        )

    def send(
        self,
        request: PreparedRequest,
        *,
        stream: bool | None = None,
        timeout: Any = None,
        verify: Any = None,
        cert: Any = None,
        proxies: Any = None,
        allow_redirects: bool = True,
    ) -> Response:
        """Sends a prepared request."""
        if not isinstance(request, PreparedRequest):
            raise ValueError("You can only send PreparedRequests.")
        adapter = self.get_adapter(request.url or "")
        streams = self.stream if stream is None else stream
        verify = self.verify if verify is None else verify
        if verify is True and self.trust_env:
            verify = os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("CURL_CA_BUNDLE") or True
        how: dict[str, Any] = {
            "timeout": _timeout(timeout),
            "verify": verify,
            "cert": cert if cert is not None else self.cert,
            "proxies": {**self.proxies, **(proxies or {})},
            "allow_redirects": allow_redirects,
        }
        if not isinstance(adapter, HTTPAdapter):
            found: Response = adapter.send(request, stream=streams, timeout=timeout, verify=verify, cert=cert, proxies=how["proxies"])
        else:
            found = adapter._retried(lambda: self._sent(request, streams, how))
        for hook in _hooks(self.hooks) + _hooks(request.hooks):
            found = hook(found) or found
        return found

    def _sent(self, request: PreparedRequest, streams: bool, how: dict[str, Any]) -> Response:
        content = request.body.encode() if isinstance(request.body, str) else request.body
        rows = [row for row in request.headers._rows if row[0].lower() not in ("transfer-encoding", "connection")]
        if not hasattr(content, "read") and not hasattr(content, "__next__"):
            rows = [row for row in rows if row[0].lower() != "content-length" or content is None and request.method != "POST"]
        made = _Request(request.method or "GET", request.url or "", headers=rows, content=content)
        made.body = request._files
        # A cookie with a domain goes to that domain only.
        made.options = copied(request._cookies).options()
        given: dict[str, Any] = {"timeout": how["timeout"], "verify": how["verify"], "cert": how["cert"]}
        follows = how["allow_redirects"]
        given |= {"follow_redirects": follows, "max_redirects": self.max_redirects}
        if isinstance(request._auth, Auth):
            given["auth"] = request._auth
        proxy = _proxy(request.url or "", how["proxies"])
        if proxy is not None or not self.trust_env:
            given["proxy"] = proxy or ""
        self._client.cookies._lines = self.cookies._lines
        try:
            inner = self._client.send(made, stream=True, **given)
            found = Response._of(inner, request)
            if not streams:
                found.content  # noqa: B018
        except errors.WarmwireError as error:
            raise exceptions.translated(error, request) from error
        self.cookies._lines.update(self._client.cookies._lines)
        for hop in found.history:
            hop._content = b""
        return found

    def get(self, url: Any, **kwargs: Any) -> Response:
        """Sends a GET request."""
        return self.request("GET", url, **kwargs)

    def options(self, url: Any, **kwargs: Any) -> Response:
        """Sends an OPTIONS request."""
        return self.request("OPTIONS", url, **kwargs)

    def head(self, url: Any, **kwargs: Any) -> Response:
        """Sends a HEAD request; redirects are not followed."""
        kwargs.setdefault("allow_redirects", False)
        return self.request("HEAD", url, **kwargs)

    def post(self, url: Any, data: Any = None, json: Any = None, **kwargs: Any) -> Response:
        """Sends a POST request."""
        return self.request("POST", url, data=data, json=json, **kwargs)

    def put(self, url: Any, data: Any = None, **kwargs: Any) -> Response:
        """Sends a PUT request."""
        return self.request("PUT", url, data=data, **kwargs)

    def patch(self, url: Any, data: Any = None, **kwargs: Any) -> Response:
        """Sends a PATCH request."""
        return self.request("PATCH", url, data=data, **kwargs)

    def delete(self, url: Any, **kwargs: Any) -> Response:
        """Sends a DELETE request."""
        return self.request("DELETE", url, **kwargs)

    def close(self) -> None:
        """Ends the session. The connections belong to the process."""


def session() -> Session:
    """Returns a new session."""
    return Session()


def _timeout(given: Any) -> Any:
    if isinstance(given, tuple):
        if len(given) != 2:
            raise ValueError(f"Invalid timeout {given}. Pass a (connect, read) timeout tuple, or a single float.")
        return Timeout(connect=given[0], read=given[1])
    return given


def _hooks(given: Any) -> list[Any]:
    found = (given or {}).get("response") or []
    return list(found) if isinstance(found, Iterable) else [found]


def _proxy(url: str, proxies: Mapping[str, str | None]) -> str | None:
    for pattern in sorted(proxies, key=len, reverse=True):
        if _matches(pattern, url):
            return proxies[pattern]
    return None


def _netrc(url: str) -> Any:
    import netrc
    from urllib.parse import urlsplit

    path = os.environ.get("NETRC") or os.path.expanduser("~/.netrc")
    try:
        found = netrc.netrc(path).authenticators(urlsplit(url).hostname or "")
    except (OSError, netrc.NetrcParseError):
        return None
    return (found[0] or found[1], found[2]) if found else None


__all__ = ["Session", "session"]
