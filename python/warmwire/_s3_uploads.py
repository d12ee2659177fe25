"""Records of uploads in parts, so that another process can continue them.

A record is a small file in the user's folder of states, with the upload's number and the size and time of the source. One process
locks it at a time.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


def folder() -> Path:
    """Returns the folder of records: below XDG_STATE_HOME, or .local/state in the user's folder."""
    state = os.environ.get("XDG_STATE_HOME", "")
    base = Path(state) if os.path.isabs(state) else Path.home() / ".local" / "state"
    return base / "warmwire" / "uploads"


class Kept:
    """The place of a record, which no other process has meanwhile."""

    def __init__(self, url: str, source: str, facts: dict[str, int]) -> None:
        self.facts = facts
        name = hashlib.sha256(f"{url}\0{source}".encode()).hexdigest()[:32]
        place = folder()
        place.mkdir(0o700, parents=True, exist_ok=True)
        self._file, self._lock_name = place / f"s3-{name}", place / f"s3-{name}.lock"
        self._lock = self._take(source, url)

    def _take(self, source: str, url: str) -> int:
        if fcntl is None:
            raise OSError(errno.ENOTSUP, "uploads that continue need locks of files, which this system lacks")
        while True:
            lock = os.open(self._lock_name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # Its previous owner may have removed it in between.
                if os.path.exists(self._lock_name) and os.path.samestat(os.stat(self._lock_name), os.fstat(lock)):
                    return lock
            except BlockingIOError:
                os.close(lock)
                raise OSError(errno.EBUSY, f"{source} is being uploaded to {url} by another process") from None
            os.close(lock)

    def read(self) -> dict[str, Any]:
        """Returns the record; an empty one if there is none, or no valid one."""
        try:
            found = json.loads(self._file.read_bytes()[: 1 << 16])
        except (OSError, ValueError):
            return {}
        is_valid = isinstance(found, dict) and isinstance(found.get("upload"), str)
        return found if is_valid else {}

    def write(self, upload: str) -> None:
        """Replaces the record, with the number of the upload."""
        following = self._file.with_suffix(".new")
        with contextlib.suppress(FileNotFoundError):
            following.unlink()
        with open(os.open(following, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump({"upload": upload, **self.facts}, file)
            file.flush()
            os.fsync(file.fileno())
        following.replace(self._file)

    def is_of(self, record: dict[str, Any]) -> bool:
        """Whether the record is of the same source, in parts of the same size."""
        return all(record.get(name) == value for name, value in self.facts.items())

    def forget(self) -> None:
        """Removes the record."""
        with contextlib.suppress(OSError):
            self._file.unlink()

    def release(self) -> None:
        """Lets other processes have the place."""
        with contextlib.suppress(OSError):
            self._lock_name.unlink()
        os.close(self._lock)


def md5(content: bytes) -> str:
    """Returns the digest that services have as ETag of a part, unless they encrypt by a key of their own."""
    return hashlib.md5(content, usedforsecurity=False).hexdigest()


def tag_of_parts(digests: list[str]) -> str:
    """Returns the ETag of an object that consists of such parts."""
    return f"{hashlib.md5(bytes.fromhex(''.join(digests)), usedforsecurity=False).hexdigest()}-{len(digests)}"
