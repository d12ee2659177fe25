"""The cookie jar of requests."""

from __future__ import annotations

from typing import Any

from ..._models import Cookies


class RequestsCookieJar(Cookies):
    """A client's cookies by name."""

    def set(self, name: str, value: Any, domain: str = "", path: str = "/", **_: Any) -> None:
        """Sets a cookie; None removes it."""
        if value is None:
            self.pop(name, None)
        elif domain:
            super().set(name, value, domain, path)
        else:
            self[name] = value

    def update(self, other: Any = (), **more: Any) -> None:  # type: ignore[override]
        """Adds the cookies of a mapping or a jar, with their domains."""
        if isinstance(other, Cookies):
            self._plain.update(other._plain)
            self._lines.update(other._lines)
            other = ()
        super().update(other, **more)

    def get_dict(self, domain: str | None = None, path: str | None = None) -> dict[str, str]:
        """Returns names and values."""
        found = {} if domain or path else dict(self._plain)
        for (host, at, name), line in self._lines.items():
            if domain in (None, host) and path in (None, at):
                found[name] = line.rsplit(b"\t", 1)[1].decode("latin-1")
        return found

    def list_domains(self) -> list[str]:
        """Returns the domains of the cookies."""
        return list(dict.fromkeys(host for host, _, _ in self._lines))

    def list_paths(self) -> list[str]:
        """Returns the paths of the cookies."""
        return list(dict.fromkeys(path for _, path, _ in self._lines))

    def copy(self) -> RequestsCookieJar:
        """Returns a copy."""
        found = RequestsCookieJar(self._plain)
        found._lines = dict(self._lines)
        return found


def cookiejar_from_dict(cookies: Any, cookiejar: RequestsCookieJar | None = None, overwrite: bool = True) -> RequestsCookieJar:
    """Returns a jar with these cookies."""
    jar = cookiejar if cookiejar is not None else RequestsCookieJar()
    for name, value in (cookies or {}).items():
        if overwrite or name not in jar:
            jar[name] = value
    return jar


def dict_from_cookiejar(jar: Any) -> dict[str, str]:
    """Returns names and values of a jar."""
    return jar.get_dict() if hasattr(jar, "get_dict") else {cookie.name: cookie.value for cookie in jar}
