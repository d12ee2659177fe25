"""The name servers of this machine, where querying them gives the answers of the system's resolver."""

from __future__ import annotations

import re

_RULES, _SERVERS = "/etc/nsswitch.conf", "/etc/resolv.conf"
_MOST = 3
"""Servers that the C library reads."""


def name_servers() -> str | None:
    """Returns the servers of resolv.conf as DNS_SERVERS takes them; None if the system's resolver has other sources.

    The engine queries them from its own loop, without a thread and a getaddrinfo(3) for each name and family, and learns how
    long an answer is valid. It reads the hosts file, the search domains and the time limits by itself.
    """
    return usable(_text(_RULES), _text(_SERVERS))


def usable(rules: str | None, servers: str | None) -> str | None:
    """Returns the servers of a resolv.conf(5); None if an nsswitch.conf(5) names more than the hosts file and DNS, in this order."""
    line = re.search(r"^[ \t]*hosts:([^#\n]*)", rules or "", re.MULTILINE)
    if line is None or line[1].split() != ["files", "dns"]:
        return None
    found = re.findall(r"^nameserver[ \t]+(\S+)", servers or "", re.MULTILINE)[:_MOST]
    # Not those with the name of an interface.
    return ",".join(found) if found and all(re.fullmatch(r"[0-9a-fA-F.:]+", one) for one in found) else None


def _text(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return None
