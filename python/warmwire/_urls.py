"""URLs and their query parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import SplitResult, parse_qsl, quote, urlencode, urljoin, urlsplit

_PORTS = {"http": 80, "https": 443, "ftp": 21, "ftps": 990, "ws": 80, "wss": 443, "sftp": 22, "scp": 22}


class QueryParams(Mapping[str, str]):
    """The parameters of a query, in order; a name may have several values.

    >>> params = warmwire.QueryParams("a=1&a=2&b=3")
    >>> params["a"], params.get_list("a"), str(params)
    ('1', ['1', '2'], 'a=1&a=2&b=3')
    """

    __slots__ = ("_rows",)

    def __init__(self, given: Any = None) -> None:
        if isinstance(given, QueryParams):
            self._rows: list[tuple[str, str]] = list(given._rows)
        elif isinstance(given, (str, bytes)):
            text = given.decode() if isinstance(given, bytes) else given
            self._rows = parse_qsl(text.lstrip("?"), keep_blank_values=True)
        else:
            self._rows = [(str(name), _primitive(value)) for name, value in rows_of(given)]

    def __getitem__(self, name: str) -> str:
        for known, value in self._rows:
            if known == name:
                return value
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(name for name, _ in self._rows))

    def __len__(self) -> int:
        return len({name for name, _ in self._rows})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, QueryParams) and sorted(self._rows) == sorted(other._rows)

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        return urlencode(self._rows)

    def __repr__(self) -> str:
        return f"QueryParams({str(self)!r})"

    def get_list(self, name: str) -> list[str]:
        """Returns all values of a name."""
        return [value for known, value in self._rows if known == name]

    def multi_items(self) -> list[tuple[str, str]]:
        """Returns all pairs, in order."""
        return list(self._rows)

    def set(self, name: str, value: Any = None) -> QueryParams:
        """Returns a copy in which the name has this one value."""
        return QueryParams([*(row for row in self._rows if row[0] != name), (name, _primitive(value))])

    def add(self, name: str, value: Any = None) -> QueryParams:
        """Returns a copy with one more value of the name."""
        return QueryParams([*self._rows, (name, _primitive(value))])

    def remove(self, name: str) -> QueryParams:
        """Returns a copy without the name."""
        return QueryParams([row for row in self._rows if row[0] != name])

    def merge(self, given: Any) -> QueryParams:
        """Returns a copy in which the names of ``given`` have its values."""
        new = QueryParams(given)
        return QueryParams([*(row for row in self._rows if row[0] not in new), *new._rows])


class URL(str):
    """A URL: a ``str`` whose parts are attributes.

    >>> url = warmwire.URL("https://example.com:8443/a/b?x=1", params={"y": 2})
    >>> url.host, url.port, url.path, url.params["y"]
    ('example.com', 8443, '/a/b', '2')
    >>> url.join("../c")
    URL('https://example.com:8443/c')
    """

    __slots__ = ()

    def __new__(cls, url: Any = "", *, params: Any = None, **parts: Any) -> URL:
        text = text_of(url)
        if params is not None:
            query = str(QueryParams(params))
            head, mark, fragment = text.partition("#")
            base, _, old = head.partition("?")
            joined = "&".join(part for part in (old, query) if part)
            text = base + ("?" + joined if joined else "") + mark + fragment
        found = super().__new__(cls, text)
        return found.copy_with(**parts) if parts else found

    def __repr__(self) -> str:
        shown = str(self)
        if self.password:
            shown = shown.replace(f":{self.password}@", ":[secure]@", 1)
        return f"URL({shown!r})"

    @property
    def _split(self) -> SplitResult:
        return urlsplit(self)

    @property
    def scheme(self) -> str:
        """The scheme in lower case."""
        return self._split.scheme

    @property
    def host(self) -> str:
        """The host's name or address, without brackets."""
        return self._split.hostname or ""

    @property
    def port(self) -> int | None:
        """The port, if it is named and not the scheme's."""
        port = self._split.port
        return None if port == _PORTS.get(self.scheme) else port

    @property
    def netloc(self) -> bytes:
        """Host and port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return (host if self.port is None else f"{host}:{self.port}").encode("ascii", "replace")

    @property
    def username(self) -> str:
        """The user; empty if there is none."""
        return self._split.username or ""

    @property
    def password(self) -> str:
        """The password; empty if there is none."""
        return self._split.password or ""

    @property
    def path(self) -> str:
        """The path, at least ``/``."""
        return self._split.path or "/"

    @property
    def raw_path(self) -> bytes:
        """The path and the query, as sent."""
        found = self._split
        return ((found.path or "/") + ("?" + found.query if found.query else "")).encode()

    @property
    def query(self) -> bytes:
        """The query without its question mark."""
        return self._split.query.encode()

    @property
    def params(self) -> QueryParams:
        """The parameters of the query."""
        return QueryParams(self._split.query)

    @property
    def fragment(self) -> str:
        """The fragment without its mark."""
        return self._split.fragment

    @property
    def is_absolute_url(self) -> bool:
        """Whether there are a scheme and a host."""
        return bool(self._split.scheme and self._split.netloc)

    @property
    def is_relative_url(self) -> bool:
        """Whether a scheme or a host is missing."""
        return not self.is_absolute_url

    def join(self, url: Any) -> URL:
        """Returns the URL of a reference on this page."""
        return URL(urljoin(self, text_of(url)))

    def copy_with(self, **parts: Any) -> URL:
        """Returns a copy with other parts: scheme, host, port, username, password, path, query, params, fragment."""
        unknown = set(parts) - {"scheme", "host", "port", "username", "password", "path", "query", "params", "fragment"}
        if unknown:
            raise TypeError(f"a URL has no {', '.join(sorted(unknown))}")
        found = self._split
        host = parts.get("host", self.host)
        port = parts.get("port", found.port)
        user, password = parts.get("username", found.username), parts.get("password", found.password)
        login = quote(user or "", safe="%") + (":" + quote(password, safe="%") if password else "")
        place = (login + "@" if login else "") + (f"[{host}]" if ":" in host else host) + (f":{port}" if port else "")
        query = parts.get("query", found.query)
        query = query.decode() if isinstance(query, bytes) else query or ""
        if parts.get("params") is not None:
            query = str(QueryParams(parts["params"]))
        path, scheme = parts.get("path", found.path), parts.get("scheme", found.scheme)
        return URL(SplitResult(scheme, place, path, query, parts.get("fragment", found.fragment) or "").geturl())

    def copy_set_param(self, name: str, value: Any = None) -> URL:
        """Returns a copy in which the parameter has this one value."""
        return self.copy_with(params=self.params.set(name, value))

    def copy_add_param(self, name: str, value: Any = None) -> URL:
        """Returns a copy with one more parameter."""
        return self.copy_with(params=self.params.add(name, value))

    def copy_remove_param(self, name: str) -> URL:
        """Returns a copy without the parameter."""
        return self.copy_with(params=self.params.remove(name))

    def copy_merge_params(self, params: Any) -> URL:
        """Returns a copy in which the given parameters replace those of the same name."""
        return self.copy_with(params=self.params.merge(params))


def text_of(url: Any) -> str:
    """Returns the text of a URL: a str, or a URL object of another library."""
    if isinstance(url, str):
        return str(url)
    if isinstance(url, SplitResult):
        return url.geturl()
    if hasattr(url, "scheme"):
        return str(url)
    raise TypeError(f"a URL is a str, not {type(url).__name__}: {url!r}")


def rows_of(given: Any) -> Iterable[tuple[str, Any]]:
    """Yields names and values; a list of values is a row each."""
    for name, value in given.items() if isinstance(given, Mapping) else given or ():
        for one in value if isinstance(value, (list, tuple, set)) else (value,):
            yield name, one


def _primitive(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.decode() if isinstance(value, bytes) else str(value)
