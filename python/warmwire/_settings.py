"""Settings of a client, and their conversion to the options of a transfer."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ._errors import OptionError, failure
from ._models import (
    _ACCESS_POLICY,
    _AGENT,
    _COOKIE,
    _COOKIE_FILE,
    _COOKIE_LIST,
    _ENCODING,
    _EXPLAIN,
    _FOLLOW,
    _FOLLOW_NAMES,
    _MAX_REDIRS,
    _NOSIGNAL,
    _OBEY_CODE,
    _PRIORITY,
    _VERSIONS,
    OPTIONS,
    UNSET,
    USER_AGENT,
    Auth,
    Cookies,
    Headers,
    Limits,
    Option,
    Request,
    Response,
    Timeout,
)
from ._transfer import Pool, _default
from ._types import NAMES
from ._urls import URL, text_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._transport import Transport
    from ._types import (
        AuthTypes,
        BodyOptions,
        CertTypes,
        HeaderTypes,
        ParamTypes,
        Path,
        ProxyTypes,
        SendOptions,
        TimeoutTypes,
        URLTypes,
        VerifyTypes,
    )

logger = logging.getLogger("warmwire")
DEFAULT_TIMEOUT = Timeout(30)
"""A transfer fails if it is not connected after 30 seconds, or moves no byte for 30 seconds."""


class Settings:
    """Common to both clients: defaults for requests, and the conversion of a request to a transfer."""

    def __init__(
        self,
        *,
        base_url: URLTypes = "",
        params: ParamTypes | None = None,
        headers: HeaderTypes | None = None,
        cookies: Mapping[str, str] | None = None,
        auth: AuthTypes | None = None,
        timeout: TimeoutTypes | None = DEFAULT_TIMEOUT,
        limits: Limits | None = None,
        follow_redirects: bool = False,
        max_redirects: int = 20,
        proxy: ProxyTypes | None = None,
        verify: VerifyTypes = True,
        cert: CertTypes | None = None,
        http_version: str | None = None,
        access_policy: Path | None = None,
        follow_names: bool | None = None,
        trust_env: bool = True,
        event_hooks: Mapping[str, list[Callable[[Any], Any]]] | None = None,
        transport: Transport | None = None,
        mounts: Mapping[str, Transport | None] | None = None,
        pool: Pool | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.base_url = URL(base_url)
        self.params: ParamTypes = dict(params or {}) if not isinstance(params, (str, bytes)) else params
        self.headers = Headers(headers)
        self.cookies = cookies if isinstance(cookies, Cookies) else Cookies(cookies)
        self.auth = auth
        # A copy: a client's own may be changed later.
        limit = Timeout.of(timeout)
        self.timeout = Timeout(connect=limit.connect, read=limit.read, pool=limit.pool, total=limit.total)
        self.limits = limits or Limits()
        self.follow_redirects = follow_redirects
        self.max_redirects = max_redirects
        self.trust_env = trust_env
        self.event_hooks: dict[str, list[Any]] = {"request": [], "response": [], **(event_hooks or {})}
        self.pool = pool if pool is not None else _default
        self.is_closed = False
        self._plain: tuple[Any, list[Option]] = (None, [])
        self._proxies = proxy if isinstance(proxy, Mapping) else None
        self._transport = transport
        self._mounts = sorted((mounts or {}).items(), key=lambda row: -len(row[0]))
        self._fixed = [
            (_NOSIGNAL, 1),
            (_COOKIE_FILE, b""),
            (_ENCODING, b""),
            *(proxy_options(None if isinstance(proxy, Mapping) else proxy, trust_env)),
            *tls_options(verify, cert),
            *version_options(http_version),
            *policy_options(access_policy),
            *([] if follow_names is None else [(_FOLLOW_NAMES, follow_names)]),
            *self.limits.options(),
            *(named_option(name, value) for name, value in (options or {}).items()),
        ]

        self._limited()

    def _limited(self) -> None:
        """Prepares the limit on connections."""

    def __repr__(self) -> str:
        shown = [f"base_url={str(self.base_url)!r}"] if self.base_url else []
        shown += [f"timeout={self.timeout!r}", *(["closed"] if self.is_closed else [])]
        return f"<{type(self).__name__} {' '.join(shown)}>"

    def build_request(self, method: str, url: URLTypes, **how: Unpack[BodyOptions]) -> Request:
        """Builds a request with the client's defaults: params, headers, content, data, json and files as in :meth:`request`.

        >>> client = warmwire.Client(base_url="https://example.com/api/", headers={"X-Key": "1"})
        >>> client.build_request("GET", "items", params={"page": 2}).url
        URL('https://example.com/api/items?page=2')
        """
        text = url if type(url) is str else text_of(url)
        if self.base_url and "://" not in text:
            text = self.base_url.rstrip("/") + "/" + text.lstrip("/") if text else str(self.base_url)
        given = dict(how)
        unknown = [name for name in given if name not in NAMES["BodyOptions"]]
        if unknown:
            raise TypeError(f"unknown argument: {', '.join(unknown)}")
        if self.params:
            params: Any = given.get("params")
            given["params"] = params if isinstance(params, str) else {**dict(self.params), **dict(params or {})}  # type: ignore[arg-type]
        if len(self.headers._rows):
            merged = Headers(self.headers)
            for name, value in Headers(given.get("headers")).multi_items():  # type: ignore[arg-type]
                merged[name] = value
            given["headers"] = merged
        return Request(method, text, **given)  # type: ignore[arg-type]

    def _options(self, request: Request, how: dict[str, Any]) -> list[Option]:
        """Returns the client's options and those of one request."""
        if self.is_closed:
            raise RuntimeError("the client is closed")
        # The options of a request without settings of its own, cached while the client does not change.
        limits = self.timeout
        state = (self.follow_redirects, self.max_redirects, limits.connect, limits.read, limits.total)
        cookies = self.cookies
        is_plain = not (how or self.auth or cookies._plain or cookies._lines or request._rows._rows or self._proxies)
        known_state, known = self._plain
        if is_plain and known_state == state:
            return known
        options = list(self._fixed)
        if "user-agent" not in request._rows and not request._full or request._rows.get("user-agent") == USER_AGENT:
            options.append((_AGENT, USER_AGENT))
        follow, most = how.pop("follow_redirects", None), how.pop("max_redirects", None)
        if self.follow_redirects if follow is None else follow:
            options += [(_FOLLOW, _OBEY_CODE), (_MAX_REDIRS, self.max_redirects if most is None else most)]
        timeout = how.pop("timeout", UNSET)
        options += (self.timeout if timeout is UNSET else Timeout.of(timeout)).options()
        auth = how.pop("auth", UNSET)
        options += auth_options(self.auth if auth is UNSET else auth)
        plain = {**self.cookies._plain, **(how.pop("cookies", None) or {})}
        options += [(_COOKIE_LIST, line) for line in list(self.cookies._lines.values())]
        if plain:
            options.append((_COOKIE, "; ".join(f"{name}={value}" for name, value in plain.items())))
        proxy = how.pop("proxy", self._proxies)
        if proxy is not None:
            options += proxy_options(proxy_of(request._url, proxy) if isinstance(proxy, Mapping) else proxy, self.trust_env)
        if "verify" in how or "cert" in how:
            options += tls_options(how.pop("verify", True), how.pop("cert", None))
        if explain := how.pop("explain", False):
            options.append((_EXPLAIN, explain == "certificates"))
        if "http_version" in how:
            options += version_options(how.pop("http_version"))
        options += policy_options(how.pop("access_policy", None))
        if (priority := how.pop("priority", None)) is not None:
            options.append((_PRIORITY, priority))
        options += [named_option(name, value) for name, value in (how.pop("options", None) or {}).items()]
        if how:
            raise TypeError(f"unknown argument: {', '.join(how)}")
        if is_plain:
            self._plain = (state, options)
        return options

    def _is_direct(self) -> bool:
        """Returns whether requests go to the engine, all with the same options and with the URLs that they are given."""
        has_places = self.base_url or self.params or self._transport is not None or self._mounts or self._proxies
        return not (has_places or self.limits.max_connections is not None or any(self.event_hooks.values()) or self.is_closed)

    def _took(self, outcome: Any, options: list[Option]) -> None:
        """Updates the cookies from a transfer with these options."""
        if outcome.cookies is not None:
            loaded = [line for number, line in options if number == _COOKIE_LIST and isinstance(line, bytes)]
            self.cookies._took(loaded, outcome.cookies)

    def _mounted(self, request: Request) -> Transport | None:
        """Returns the transport that replaces the engine for a URL."""
        for pattern, transport in self._mounts:
            if _matches(pattern, request._url):
                return transport
        return self._transport

    def _needs_engine(self, name: str) -> None:
        """Refuses transports, for a function whose transfers the engine runs by itself."""
        if self._transport is not None or any(transport is not None for _, transport in self._mounts):
            raise TypeError(f"{name} works without transports: give it a client without transport and mounts")

    def _ended(self, response: Response) -> Response:
        """Logs a reply, and keeps the cookies of one that no engine made."""
        if logger.isEnabledFor(logging.INFO):
            request = response.request
            first = f"{response.http_version or request.url.scheme} {response.status_code} {response.reason_phrase}".strip()
            logger.info('%s %s "%s"', request.method, request._url, first)
            logger.debug("%s", response.timings)
        return response


def split(how: dict[str, Any]) -> BodyOptions:
    """Takes the arguments of :meth:`Settings.build_request` out of those of a request."""
    return {name: how.pop(name) for name in NAMES["BodyOptions"] if name in how}  # type: ignore[return-value]


def refused(error: RuntimeError, request: Request) -> Exception:
    """Converts the error of a transfer that could not start, (code, message)."""
    if len(error.args) == 2:
        return failure(error.args[0], error.args[1], request)
    return error


def named_option(name: str, value: Any) -> Option:
    """Returns one of curl's options."""
    number = OPTIONS.get(name.upper().removeprefix("CURLOPT_"))
    if number is None:
        raise OptionError(f"{name} is no option", 48)
    return (number, value)


def proxy_options(proxy: str | None, trust_env: bool) -> list[Option]:
    """Returns the options for a proxy; None is the environment's if that is trusted."""
    if proxy is not None:
        if not isinstance(proxy, str):
            proxy = text_of(proxy)
        return [(OPTIONS["PROXY"], proxy)]
    return [] if trust_env else [(OPTIONS["PROXY"], "")]


def fixed_proxy(options: list[Option], trust_env: bool) -> list[Option]:
    """Returns the option that keeps many transfers from reading the environment, if that names no proxy now."""
    is_set = any(number == OPTIONS["PROXY"] for number, _ in options)
    is_named = trust_env and any(name.lower().endswith("_proxy") for name in os.environ)
    return [] if is_set or is_named else [(OPTIONS["PROXY"], "")]


def proxy_of(url: str, proxies: Mapping[str, str | None]) -> str | None:
    """Returns the proxy for a URL, of the longest pattern that matches; "" is none."""
    for pattern in sorted(proxies, key=len, reverse=True):
        if _matches(pattern, url):
            return proxies[pattern] or ""
    return None


def _matches(pattern: str, url: str) -> bool:
    """Whether a pattern (``all``, ``https``, ``http://host``, ``all://*.example.com:8000``) matches a URL."""
    scheme, _, place = pattern.partition("://")
    found = urlsplit(url)
    if scheme.rstrip(":") not in ("all", "", found.scheme):
        return False
    host, _, port = place.rstrip("/").partition(":")
    if host in ("", "*"):
        return not port or str(found.port) == port
    name = found.hostname or ""
    # *example.com is the domain with its hosts.
    is_host = fnmatchcase(name, host.lower()) if "." in host[:2] or "*" not in host else (
        name == host[1:].lower() or name.endswith("." + host[1:].lower())
    )
    return is_host and (not port or str(found.port) == port)


def tls_options(verify: VerifyTypes, cert: CertTypes | None) -> list[Option]:
    """Returns the options for the certificates of both sides."""
    found: list[Option] = []
    # Not imported for programs that have no such context: it costs milliseconds, and some Pythons lack it.
    ssl = sys.modules.get("ssl")
    if ssl is not None and isinstance(verify, ssl.SSLContext):
        from ._tls import context_options

        found += context_options(verify)
    elif verify is False:
        found += [(OPTIONS["SSL_VERIFYPEER"], 0), (OPTIONS["SSL_VERIFYHOST"], 0)]
    elif isinstance(verify, (str, os.PathLike)):
        path = os.fspath(verify)
        found.append((OPTIONS["CAPATH" if os.path.isdir(path) else "CAINFO"], path))
    elif verify is not True:
        raise TypeError(f"verify is True, False, a file or folder of certificates, or an ssl.SSLContext, not {verify!r}")
    if cert is not None:
        parts: tuple[Any, ...] = (cert,) if isinstance(cert, (str, os.PathLike)) else tuple(cert)
        for name, part in zip(("SSLCERT", "SSLKEY", "KEYPASSWD"), parts):
            found.append((OPTIONS[name], os.fspath(part)))
    return found


def version_options(wanted: str | None) -> list[Option]:
    """Returns the options for a version of HTTP."""
    if wanted is None:
        return []
    if wanted not in _VERSIONS:
        raise OptionError(f"{wanted!r} is no version of HTTP: 1.0, 1.1, 2 or 3", 43)
    return [(OPTIONS["HTTP_VERSION"], _VERSIONS[wanted])]


def policy_options(file: Path | None) -> list[Option]:
    """Returns the options for the policy that a transfer must satisfy."""
    return [] if file is None else [(_ACCESS_POLICY, os.path.abspath(file))]


def auth_options(given: AuthTypes | None) -> list[Option]:
    """Returns the options for a login."""
    if given is None:
        return []
    if isinstance(given, Auth):
        return given.options()
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise TypeError(f"auth is (user, password) or a warmwire.Auth, not {type(given).__name__}")
    user, password = given
    return Auth(user, password).options()
