"""Uploads of files that continue after a cut, also in another process."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from . import _native
from ._client import AsyncClient, Client
from ._errors import failure
from ._models import Why
from ._s3_uploads import folder
from ._settings import refused, split

if TYPE_CHECKING:
    from ._models import Request
    from ._types import HeaderTypes, Path, URLTypes


@dataclass(frozen=True)
class Uploaded:
    """A file that :func:`upload` has sent.

    ``sent`` is how many of its ``size`` bytes this call has sent: fewer if it continued an upload, more if a cut lost some.
    ``is_verified`` says whether the server's checksum of the file was compared. ``reply`` is the last body over HTTP, and ``why``
    has the reasons of the last attempt, of an upload with ``explain=True``.

    >>> path = os.path.abspath("image.iso")
    >>> size = open(path, "wb").write(b"i" * 1000)
    >>> done = warmwire.upload("https://example.com/image.iso", path, protocol="ietf")
    >>> done.size, done.attempts
    (1000, 1)
    """

    size: int
    sent: int
    attempts: int
    is_verified: bool
    reply: bytes
    why: Why | None = None


class _Running:
    """An upload that runs."""

    def __init__(self, url: URLTypes, file: Path, client: Client | AsyncClient | None, plan: Any, how: dict[str, Any]) -> None:
        own = client if client is not None else Client()
        own._needs_engine("upload")
        self.request: Request = own.build_request("PUT", url, **split(how))
        options = [*own._options(self.request, how), *self.request.options]
        fields = [(name.encode("latin-1"), value.encode("utf-8")) for name, value in self.request._rows.multi_items()]
        try:
            self._native = _native.Upload(str(self.request.url), os.fspath(file), options, fields, plan)
        except RuntimeError as error:
            raise refused(error, self.request) from None

    def wait(self, show: Callable[[int, int], Any] | None) -> Uploaded | None:
        """Waits a moment for the end."""
        done, failed = self._native.wait()
        if show is not None:
            show(*self._native.progress())
        if failed is not None:
            code, message, why = failed
            error = failure(code, message, self.request)
            error.why = Why(*why) if why else None
            raise error
        if done is None:
            return None
        size, sent, attempts, is_verified, reply, why = done
        return Uploaded(size, sent, attempts, is_verified, reply, Why(*why) if why else None)

    def close(self) -> None:
        """Ends the upload; another one continues it."""
        self._native.close()


def _plan(protocol: str | None, method: str | None, attempts: int, pause: float, resume: bool | Path) -> Any:
    """Returns the settings of an upload for the engine, and creates the folder for what survives the process."""
    if attempts < 1 or not pause >= 0:
        raise ValueError("attempts is above 0, and pause a number of seconds")
    place = folder() if resume is True else resume or None
    if resume is True:
        folder().mkdir(0o700, parents=True, exist_ok=True)
    return (protocol or "", method, attempts, float(pause), place)


def upload(
    url: URLTypes,
    file: Path,
    *,
    protocol: Literal["tus", "ietf", "s3"] | None = None,
    method: str | None = None,
    attempts: int = 10,
    pause: float = 1.0,
    resume: bool | Path = True,
    headers: HeaderTypes | None = None,
    explain: bool | Literal["certificates"] = False,
    on_progress: Callable[[int, int], Any] | None = None,
    client: Client | AsyncClient | None = None,
) -> Uploaded:
    """Uploads a file by FTP, SFTP or HTTP, and continues where the server says that its part ends after a cut.

    FTP continues by REST and STOR, SFTP by writing at an offset. HTTP needs a server that takes part: ``protocol="tus"`` is tus
    1.0, whose URL creates uploads; ``"ietf"`` is draft-ietf-httpbis-resumable-upload, a PUT or the given ``method``; ``"s3"`` is
    Amazon S3 in parts, signed by the client's option ``AWS_SIGV4`` with the keys in ``USERPWD``. At the end the server's size is
    compared, and its checksum if it has one.

    A cut is followed by up to ``attempts`` in all, the second after ``pause`` seconds and later ones after longer pauses.
    ``resume`` keeps a record in the user's folder of states, or in the folder that it names, until the upload is complete: the
    next call with the same file and URL continues, also in another process. ``on_progress(sent, total)`` is called several times
    in a second about the current request. ``client`` has the settings: login, TLS, proxies, time limits, options.

    >>> with open("report.csv", "w") as report:
    ...     size = report.write("a,b")
    >>> warmwire.upload("https://example.com/report.csv", "report.csv", protocol="ietf", resume=False).size
    3
    """
    how: dict[str, Any] = {"headers": headers, "explain": explain}
    running = _Running(url, file, client, _plan(protocol, method, attempts, pause, resume), how)
    try:
        while (done := running.wait(on_progress)) is None:
            pass
        return done
    finally:
        running.close()


async def aupload(
    url: URLTypes,
    file: Path,
    *,
    protocol: Literal["tus", "ietf", "s3"] | None = None,
    method: str | None = None,
    attempts: int = 10,
    pause: float = 1.0,
    resume: bool | Path = True,
    headers: HeaderTypes | None = None,
    explain: bool | Literal["certificates"] = False,
    on_progress: Callable[[int, int], Any] | None = None,
    client: Client | AsyncClient | None = None,
) -> Uploaded:
    """Uploads a file as :func:`upload` does, beside other tasks. Cancelling ends it; the next call continues.

    >>> async def send():
    ...     with open("report.csv", "w") as report:
    ...         report.write("a,b")
    ...     return await warmwire.aupload("https://example.com/report.csv", "report.csv", protocol="ietf", resume=False)
    >>> asyncio.run(send()).size
    3
    """
    how: dict[str, Any] = {"headers": headers, "explain": explain}
    running = _Running(url, file, client, _plan(protocol, method, attempts, pause, resume), how)
    loop = asyncio.get_running_loop()
    try:
        while (done := await loop.run_in_executor(None, running.wait, on_progress)) is None:
            pass
        return done
    finally:
        running.close()
