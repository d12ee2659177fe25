"""Links of index pages."""

from __future__ import annotations

import html
import re
from urllib.parse import urljoin

_LINK = re.compile(rb"""<a\s[^>]*?href\s*=\s*["']?([^"'\s>]+)""", re.IGNORECASE)


def links(page_url: str, page: bytes) -> list[tuple[str, bool]]:
    """Returns the URLs below the page's own that it links to, and whether each is a directory."""
    base = page_url if page_url.endswith("/") else page_url + "/"
    found: dict[str, bool] = {}
    for link in _LINK.findall(page):
        url = urljoin(base, html.unescape(link.decode("utf-8", "replace"))).split("#")[0]
        if "?" not in url and url.startswith(base) and url != base:
            found[url] = url.endswith("/")
    return list(found.items())


__all__ = ["links"]
