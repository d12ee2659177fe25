"""Which name servers the engine queries in place of the system's resolver: as a table, and those of this machine."""

import pathlib

import pytest
from warmwire._name_servers import name_servers, usable

PLAIN = "passwd: files\nhosts: files dns\n"
ONE = "nameserver 192.0.2.1\n"


@pytest.mark.parametrize(
    ("rules", "servers", "wanted"),
    [
        (PLAIN, ONE, "192.0.2.1"),
        ("hosts:\tfiles   dns # as installed\n", ONE, "192.0.2.1"),
        (PLAIN, "; a remark\nnameserver 192.0.2.1\nsearch example\nnameserver 2001:db8::1\n", "192.0.2.1,2001:db8::1"),
        # The C library reads three.
        (PLAIN, "".join(f"nameserver 192.0.2.{n}\n" for n in range(1, 6)), "192.0.2.1,192.0.2.2,192.0.2.3"),
        # A zone by its name, a remark in place of a server, none at all, no file.
        (PLAIN, ONE + "nameserver fe80::1%eth0\n", None),
        (PLAIN, "#nameserver 192.0.2.1\n", None),
        (PLAIN, "", None),
        (PLAIN, None, None),
        # Sources that the engine does not read, another order, actions, no rule, no file.
        ("hosts: files mdns4_minimal [NOTFOUND=return] dns\n", ONE, None),
        ("hosts: files resolve [!UNAVAIL=return] dns\n", ONE, None),
        ("hosts: dns files\n", ONE, None),
        ("hosts: files\n", ONE, None),
        ("#hosts: files dns\n", ONE, None),
        ("passwd: files\n", ONE, None),
        (None, ONE, None),
    ],
)
def test_servers_are_used_only_where_they_answer_like_the_system(rules, servers, wanted):
    assert usable(rules, servers) == wanted


def test_those_of_this_machine_are_read():
    found = name_servers()
    assert found is None or set(found.split(",")) <= set(pathlib.Path("/etc/resolv.conf").read_text().split())
