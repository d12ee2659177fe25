"""The types of arguments, and the keywords that every request accepts."""

from __future__ import annotations

import inspect
import os
from collections.abc import AsyncIterable, Callable, Iterable, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, Literal, Protocol, TypedDict, TypeVar, Union

if TYPE_CHECKING:
    import ssl

    from ._models import Auth, Headers, Timeout
    from ._urls import QueryParams

Primitive = Union[str, int, float, bool, None]
Path = Union[str, "os.PathLike[str]"]


class URLObject(Protocol):
    """A URL of another library: httpx, yarl, furl, pydantic. ``str()`` returns its text."""

    @property
    def scheme(self) -> Any: ...


URLTypes = Union[str, URLObject]
ParamTypes = Union[
    "QueryParams", Mapping[str, Union[Primitive, Sequence[Primitive]]], Sequence[tuple[str, Primitive]], str, bytes
]
HeaderTypes = Union[
    "Headers", Mapping[str, str], Mapping[bytes, bytes], Sequence[tuple[str, str]], Sequence[tuple[bytes, bytes]]
]
AuthTypes = Union["Auth", tuple[str, str]]
TimeoutTypes = Union["Timeout", float, tuple[Union[float, None], Union[float, None]]]
VerifyTypes = Union[bool, Path, "ssl.SSLContext"]
CertTypes = Union[Path, tuple[Path, Path], tuple[Path, Path, str]]
ProxyTypes = Union[str, Mapping[str, Union[str, None]]]
ContentTypes = Union[str, bytes, bytearray, memoryview, IO[bytes], IO[str], Iterable[bytes], AsyncIterable[bytes]]
DataTypes = Union[Mapping[str, Any], Sequence[tuple[str, Any]], ContentTypes]
FileContent = Union[IO[bytes], IO[str], bytes, str]
FileTypes = Union[
    FileContent, tuple[Union[str, None], FileContent], tuple[Union[str, None], FileContent, Union[str, None]]
]
FilesTypes = Union[Mapping[str, FileTypes], Sequence[tuple[str, FileTypes]]]
OnProgress = Callable[[int, Union[int, None]], Any]


class SendOptions(TypedDict, total=False):
    """How to send one request; what is missing is as in the client."""

    cookies: Mapping[str, str] | None
    auth: AuthTypes | None
    timeout: TimeoutTypes | None
    follow_redirects: bool | None
    max_redirects: int
    proxy: ProxyTypes | None
    verify: VerifyTypes
    cert: CertTypes | None
    http_version: str | None
    access_policy: Path | None
    priority: str | None
    options: Mapping[str, Any]
    on_progress: OnProgress | None
    progress: bool
    explain: bool | Literal["certificates"]


class BodyOptions(TypedDict, total=False):
    """The parts of a request."""

    params: ParamTypes | None
    headers: HeaderTypes | None
    content: ContentTypes | None
    data: DataTypes | None
    json: Any
    files: FilesTypes | None


class RequestOptions(SendOptions, BodyOptions, total=False):
    """Every keyword of a request."""


_Function = TypeVar("_Function", bound=Callable[..., Any])
_SEND = tuple(SendOptions.__annotations__)
NAMES = {
    "SendOptions": _SEND,
    "BodyOptions": tuple(BodyOptions.__annotations__),
    "RequestOptions": tuple(BodyOptions.__annotations__) + _SEND,
}


def signed(function: _Function) -> _Function:
    """Gives a function that takes ``Unpack[...]`` the signature with every keyword, for help() and completion."""
    found = inspect.signature(function)
    kept = [each for each in found.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
    last = [each for each in found.parameters.values() if each.kind is inspect.Parameter.VAR_KEYWORD]
    known = str(last[0].annotation).partition("[")[2].rstrip("]")
    named = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in NAMES[known]]
    names = {each.name for each in kept}
    function.__signature__ = found.replace(  # type: ignore[attr-defined]
        parameters=[*kept, *(each for each in named if each.name not in names)]
    )
    return function
