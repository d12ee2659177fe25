"""Which addresses a policy calls public, by Python's ipaddress and by the table of private-ip (npm).

The tool runs with --policy and a proxy of the test on loopback, which answers everything: an address in a URL
is judged before the proxy gets it, and nothing leaves the machine.
"""

import http.server
import ipaddress
import random
import re
import threading

import pytest

import conftest

# IANA calls these globally reachable (RFC 7534, RFC 7535, RFC 7450), private-ip does not.
REACHABLE = [ipaddress.ip_network(text) for text in ("192.31.196.0/24", "192.52.193.0/24", "192.175.48.0/24")]
# The policy refuses these, although ipaddress, or an older one, calls parts of them global.
STRICTER = [
    ipaddress.ip_network(text)
    for text in ("192.0.0.0/24", "192.88.99.0/24", "2001::/23", "2002::/16", "3fff::/20", "224.0.0.0/4", "ff00::/8")
]


class Answers(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def proxy():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1]
    server.shutdown()


@pytest.fixture
def allowed(tool, proxy, tmp_path):
    """A function that returns for each host whether a policy without rules about addresses allows it."""
    policy = tmp_path / "policy"
    policy.write_text(f"version 1\nallow proxy 127.0.0.1:{proxy}\n")

    def ask(hosts):
        urls = tmp_path / "urls"
        urls.write_text("".join(f'url = "http://{host}/"\n' for host in hosts))
        ran = tool(
            "--policy", policy, "--proxy", f"http://127.0.0.1:{proxy}", "--noproxy", "", "-g", "-w", "%{exitcode}\n", "-K", urls
        )
        codes = ran.out.decode().split()
        assert len(codes) == len(hosts), ran
        assert set(codes) <= {"0", "9"}, ran
        return [code == "0" for code in codes]

    return ask


def written(address):
    return f"[{address}]" if address.version == 6 else str(address)


def is_in(address, networks):
    return any(address.version == network.version and address in network for network in networks)


def test_ipaddress_agrees(allowed):
    """At the edges of each special network that ipaddress knows, and at random."""
    dice = random.Random(43)
    networks = [ipaddress.ip_network(text) for text in ("10.0.0.0/8", "fc00::/7", "64:ff9b:1::/48", "3fff::/20")]
    for constants in (ipaddress._IPv4Constants, ipaddress._IPv6Constants):
        networks += constants._private_networks
    networks += STRICTER + REACHABLE
    addresses = set()
    for network in networks:
        for number in (network[0], network[-1]):
            for step in (-1, 0, 1):
                if 0 <= int(number) + step < 1 << network.max_prefixlen:
                    addresses.add(type(number)(int(number) + step))
    addresses |= {ipaddress.IPv4Address(dice.getrandbits(32)) for _ in range(300)}
    addresses |= {ipaddress.IPv6Address(0x2 << 124 | dice.getrandbits(124)) for _ in range(200)}
    addresses = sorted(addresses, key=lambda address: (address.version, int(address)))
    wrong = []
    for address, is_allowed in zip(addresses, allowed([written(address) for address in addresses])):
        judged = getattr(address, "ipv4_mapped", None) or address
        is_public = judged.is_global and not is_in(judged, STRICTER)
        # Outside of 2000::/3 nothing is assigned to the public; NAT64 is judged by the address in it.
        if judged.version == 6 and int(judged) >> 125 != 1:
            is_public = False
        if is_allowed != is_public:
            wrong.append((str(address), is_allowed))
    assert not wrong
    assert len(addresses) > 500


def test_private_ip_agrees(allowed):
    """All spellings in the table of private-ip are refused, and what is public for both is allowed."""
    table = conftest.target() / "private-ip/package/test.js"
    if not table.exists():
        pytest.skip("is missing: private-ip")
    text = table.read_text()
    lists = {name: re.findall(r"'([^']+)'", body) for name, body in re.findall(r"const (\w+) = \[(.*?)\]", text, re.S)}
    private = lists["priv_ips"] + lists["invalid_ips"]
    assert len(private) > 100

    def expected(host):
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return False
        # NAT64 of a public address is what that address is.
        if address.version == 6 and int(address) >> 32 == 0x64FF9B << 64:
            embedded = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
            return embedded.is_global
        return is_in(address, REACHABLE)

    # A URL with one of the invalid addresses cannot be asked about.
    hosts = [host for host in private if host not in lists["invalid_ips"]]
    answers = allowed([f"[{host}]" if ":" in host else host for host in hosts])
    assert [host for host, answer in zip(hosts, answers) if answer != expected(host)] == []
    public = [host for host in lists["pub_ips"] if ":" not in host and not ipaddress.ip_address(host).is_multicast]
    assert len(public) > 5 and all(allowed(public))
