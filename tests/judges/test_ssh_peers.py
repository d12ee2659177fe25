"""SFTP and SCP with servers of asyncssh and paramiko: logins, algorithms, files, new keys."""

import contextlib
import hashlib
import os

import paramiko
import pytest
from asyncssh.encryption import get_encryption_algs
from asyncssh.kex import get_kex_algs
from asyncssh.mac import get_mac_algs

from ssh_servers import HOST_KEY_TYPES, PASSWORD, USER, AsyncsshServer, ParamikoServer, make_key

SERVERS = {"asyncssh": AsyncsshServer, "paramiko": ParamikoServer}
BIG = os.urandom(1 << 16) * 48  # 3 MiB, more than any window
KEX = [
    "mlkem768x25519-sha256",
    "curve25519-sha256",
    "curve25519-sha256@libssh.org",
    "ecdh-sha2-nistp256",
    "ecdh-sha2-nistp384",
    "ecdh-sha2-nistp521",
    "diffie-hellman-group14-sha256",
    "diffie-hellman-group16-sha512",
    "diffie-hellman-group18-sha512",
]
CIPHERS = [
    "aes128-ctr",
    "aes192-ctr",
    "aes256-ctr",
    "aes128-gcm@openssh.com",
    "aes256-gcm@openssh.com",
    "chacha20-poly1305@openssh.com",
]
MACS = [
    "hmac-sha2-256",
    "hmac-sha2-512",
    "hmac-sha2-256-etm@openssh.com",
    "hmac-sha2-512-etm@openssh.com",
]


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    folder = tmp_path_factory.mktemp("keys")
    made = {kind: make_key(folder, kind, kind) for kind in HOST_KEY_TYPES}
    made["locked"] = make_key(folder, "locked", passphrase="a phrase")
    made["stranger"] = make_key(folder, "stranger")
    known = [made[name] for name in [*HOST_KEY_TYPES, "locked"]]
    authorized = folder / "authorized_keys"
    authorized.write_text("".join(path.with_name(path.name + ".pub").read_text() for path in known))
    made["authorized"] = authorized
    return made


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    (root / "text").write_bytes(b"0123456789\n")
    (root / "big").write_bytes(BIG)
    (root / "empty").write_bytes(b"")
    (root / "a name with \u00e4").write_bytes(b"odd\n")
    return root


class Peer:
    """A server and the tool that talks to it."""

    def __init__(self, name, server, tool, folder, host_key, trusts):
        self.name, self.server, self.tool, self.folder = name, server, tool, folder
        public = host_key.with_name(host_key.name + ".pub").read_text().split()
        known = folder.parent / "known_hosts"
        known.write_text(f"[127.0.0.1]:{server.port} {public[0]} {public[1]}\n")
        self.login = ["--knownhosts", known, *trusts]

    def url(self, path, scheme="sftp"):
        return f"{scheme}://127.0.0.1:{self.server.port}/{path}"

    def run(self, *arguments, **named):
        return self.tool(*self.login, *arguments, **named)

    def get(self, path, scheme="sftp"):
        ran = self.run(self.url(path, scheme))
        assert ran.code == 0, ran
        return ran.out


BY_PASSWORD = ["-u", f"{USER}:{PASSWORD}"]


@pytest.fixture
def start(tool, folder, keys):
    """A function that starts a server by its name; all end with the test."""
    with contextlib.ExitStack() as ends:

        def begin(name, host_key="ssh-ed25519", trusts=BY_PASSWORD, **options):
            server = SERVERS[name](folder, keys[host_key], keys["authorized"], **options)
            ends.callback(server.close)
            return Peer(name, server, tool, folder, keys[host_key], trusts)

        yield begin


@pytest.fixture(params=SERVERS)
def peer(request, start):
    return start(request.param)


def digest(octets):
    return hashlib.sha256(octets).hexdigest()


def test_get(peer):
    assert peer.get("text") == b"0123456789\n"
    assert peer.get("empty") == b""
    assert digest(peer.get("big")) == digest(BIG)
    assert peer.get("a%20name%20with%20%C3%A4") == b"odd\n"


def test_get_a_range_and_the_rest(peer, tmp_path):
    for words, wanted in [("2-4", b"234"), ("8-", b"89\n"), ("-3", b"89\n")]:
        ran = peer.run("-r", words, peer.url("text"))
        assert (ran.code, ran.out) == (0, wanted), ran
    part = tmp_path / "part"
    part.write_bytes(BIG[:1_000_001])
    ran = peer.run("-C", "-", "-o", part, peer.url("big"))
    assert ran.code == 0 and digest(part.read_bytes()) == digest(BIG), ran


def test_put(peer, tmp_path):
    for name, octets in [("small", b"x"), ("large", BIG), ("none", b"")]:
        mine = tmp_path / name
        mine.write_bytes(octets)
        ran = peer.run("-T", mine, peer.url(f"put-{name}"))
        assert ran.code == 0 and digest((peer.folder / f"put-{name}").read_bytes()) == digest(octets), ran


def test_put_from_a_pipe_and_into_new_folders(peer):
    ran = peer.run("-T", "-", "--ftp-create-dirs", peer.url("new/deep/file"), stdin=b"piped")
    assert ran.code == 0 and (peer.folder / "new/deep/file").read_bytes() == b"piped", ran


def test_append_and_resume_an_upload(peer, tmp_path):
    mine = tmp_path / "mine"
    mine.write_bytes(b"0123456789 and more\n")
    (peer.folder / "begun").write_bytes(b"0123456789")
    ran = peer.run("-C", "-", "-T", mine, peer.url("begun"))
    assert ran.code == 0 and (peer.folder / "begun").read_bytes() == mine.read_bytes(), ran
    ran = peer.run("--append", "-T", "-", peer.url("text"), stdin=b"more\n")
    assert ran.code == 0 and (peer.folder / "text").read_bytes() == b"0123456789\nmore\n", ran


def test_list(peer):
    ran = peer.run("--list-only", peer.url(""))
    assert ran.code == 0, ran
    names = set(ran.out.decode().splitlines()) - {".", ".."}
    assert names == {"text", "big", "empty", "a name with \u00e4"}
    long = peer.get("").decode().splitlines()
    assert any(line.startswith("-rw") and line.endswith(" text") for line in long), long


def test_a_folder_of_a_thousand(peer):
    many = peer.folder / "many"
    many.mkdir()
    for number in range(1000):
        (many / f"file-{number:04}").touch()
    ran = peer.run("--list-only", peer.url("many/"))
    names = sorted(set(ran.out.decode().splitlines()) - {".", ".."})
    assert ran.code == 0 and names == [f"file-{number:04}" for number in range(1000)], ran


def test_commands(peer):
    words = ["mkdir /made", "rename /text /made/moved", "chmod 600 /made/moved", "rm /empty"]
    if peer.name == "paramiko":
        # asyncssh expects the draft's order of the two names from all clients that are not OpenSSH or
        # paramiko; libssh2 and we send OpenSSH's order, which its own server needs.
        words.append("ln /made/moved /link")
    quotes = [word for command in words for word in ("-Q", command)]
    ran = peer.run(*quotes, peer.url("made/moved"))
    assert (ran.code, ran.out) == (0, b"0123456789\n"), ran
    assert (peer.folder / "made/moved").stat().st_mode & 0o777 == 0o600
    assert (peer.folder / "link").is_symlink() == (peer.name == "paramiko")
    assert not (peer.folder / "empty").exists()
    ran = peer.run("-Q", "rmdir /absent", peer.url("big"))
    assert ran.code == 21, ran
    ran = peer.run("-Q", "*rmdir /absent", "-r", "0-0", peer.url("big"))
    assert ran.code == 0, ran


def test_what_is_not_there(peer):
    assert peer.run(peer.url("absent")).code == 78
    assert peer.run("--list-only", peer.url("absent/")).code == 78


def test_several_files_on_one_connection(peer):
    ran = peer.run("-w", "%{num_connects}\n", "-o", "one", peer.url("big"), "-o", "two", peer.url("text"))
    assert ran.code == 0 and ran.out.split() == [b"1", b"0"], ran


def test_sixteen_at_once(peer):
    outputs = [word for number in range(16) for word in ("-o", f"out-{number}", peer.url("big"))]
    ran = peer.run("-Z", *outputs)
    assert ran.code == 0, ran
    for number in range(16):
        assert digest((peer.folder.parent / f"out-{number}").read_bytes()) == digest(BIG)


@pytest.mark.parametrize("name", SERVERS)
@pytest.mark.parametrize("kind", [*HOST_KEY_TYPES, "locked"])
def test_login_with_a_key(start, keys, name, kind):
    login = ["-u", f"{USER}:", "--key", keys[kind], *(["--pass", "a phrase"] if kind == "locked" else [])]
    peer = start(name, trusts=login, methods=("publickey",))
    assert peer.get("text") == b"0123456789\n"


@pytest.mark.parametrize("name", SERVERS)
def test_login_with_keyboard_interactive(start, name):
    assert start(name, methods=("keyboard-interactive",)).get("text") == b"0123456789\n"


@pytest.mark.parametrize("name", SERVERS)
def test_refused_logins(start, keys, name):
    peer = start(name, trusts=[], methods=("password", "publickey"))
    for login in [["-u", f"{USER}:wrong"], ["-u", f"nobody:{PASSWORD}"], ["-u", f"{USER}:", "--key", keys["stranger"]]]:
        ran = peer.run(*login, peer.url("text"))
        assert (ran.code, ran.out) == (67, b""), (login, ran)


@pytest.mark.parametrize("name", SERVERS)
@pytest.mark.parametrize("kind", HOST_KEY_TYPES)
def test_host_keys(start, keys, name, kind):
    peer = start(name, host_key=kind)
    assert peer.get("text") == b"0123456789\n"
    (peer.folder.parent / "other").write_text(
        f"[127.0.0.1]:{peer.server.port} {keys['stranger'].with_name('stranger.pub').read_text()}"
    )
    ran = peer.tool("--knownhosts", "other", *BY_PASSWORD, peer.url("text"))
    assert (ran.code, ran.out) == (60, b""), ran


def restricted(name, kex=None, cipher=None, mac=None):
    """The options by which a server has only this algorithm."""
    if name == "asyncssh":
        lists = {"kex_algs": kex, "encryption_algs": cipher, "mac_algs": mac}
        return {key: [value] for key, value in lists.items() if value}

    def adjust(transport):
        options = transport.get_security_options()
        if kex:
            options.kex = (kex,)
        if cipher:
            options.ciphers = (cipher,)
        if mac:
            options.digests = (mac,)

    return {"adjust": adjust}


def has(server, kind, algorithm):
    """Whether this release of the server knows the algorithm."""
    if server == "asyncssh":
        lists = {"kex": get_kex_algs, "cipher": get_encryption_algs, "mac": get_mac_algs}
        return algorithm.encode() in lists[kind]()
    table = {"kex": "_kex_info", "cipher": "_cipher_info", "mac": "_mac_info"}[kind]
    return algorithm in getattr(paramiko.Transport, table)


def both(kind, names):
    return [(server, name) for server in SERVERS for name in names if has(server, kind, name)]


def exchange(start, name, kind, algorithm):
    # A MAC is used only with a cipher that does not authenticate by itself.
    more = {"cipher": "aes128-ctr"} if kind == "mac" else {}
    peer = start(name, **restricted(name, **{kind: algorithm}, **more))
    assert digest(peer.get("big")) == digest(BIG)


@pytest.mark.parametrize("name,algorithm", both("kex", KEX))
def test_key_exchanges(start, name, algorithm):
    exchange(start, name, "kex", algorithm)


@pytest.mark.parametrize("name,algorithm", both("cipher", CIPHERS))
def test_ciphers(start, name, algorithm):
    exchange(start, name, "cipher", algorithm)


@pytest.mark.parametrize("name,algorithm", both("mac", MACS))
def test_macs(start, name, algorithm):
    exchange(start, name, "mac", algorithm)


WEAK = [
    ("kex", "diffie-hellman-group1-sha1"),
    ("kex", "diffie-hellman-group14-sha1"),
    ("cipher", "aes128-cbc"),
    ("cipher", "3des-cbc"),
    ("mac", "hmac-sha1"),
    ("mac", "hmac-md5"),
]


@pytest.mark.parametrize(
    "name,kind,algorithm", [(server, *weak) for server in SERVERS for weak in WEAK if has(server, *weak)]
)
def test_weak_algorithms_are_refused(start, name, kind, algorithm):
    more = {"cipher": "aes128-ctr"} if kind == "mac" else {}
    peer = start(name, **restricted(name, **{kind: algorithm}, **more))
    ran = peer.run(peer.url("text"))
    assert ran.code == 2 and ran.out == b"", ran


@pytest.mark.parametrize("size", [20_000, 200_000])
@pytest.mark.parametrize("name", SERVERS)
def test_new_keys_in_the_middle_of_transfers(start, tmp_path, name, size):
    exchanges = []
    if name == "asyncssh":
        options = {"rekey_bytes": size}
    else:

        def adjust(transport):
            transport.packetizer.REKEY_BYTES = size
            sends = transport._send_kex_init

            def counted():
                exchanges.append(1)
                return sends()

            transport._send_kex_init = counted

        options = {"adjust": adjust}
    peer = start(name, **options)
    assert digest(peer.get("big")) == digest(BIG)
    mine = tmp_path / "mine"
    mine.write_bytes(BIG)
    ran = peer.run("-T", mine, peer.url("put"))
    assert ran.code == 0 and digest((peer.folder / "put").read_bytes()) == digest(BIG), ran
    if name == "paramiko":
        assert len(exchanges) > 4


@pytest.mark.parametrize("version", [3, 4, 5, 6])
def test_servers_of_later_sftp_versions(start, version):
    peer = start("asyncssh", sftp_version=version)
    assert peer.get("text") == b"0123456789\n"
    assert b"text" in peer.run("--list-only", peer.url("")).out.splitlines()


def test_compression(start):
    peer = start("asyncssh", compression_algs=["zlib@openssh.com"])
    ran = peer.run("--compressed-ssh", peer.url("big"))
    assert ran.code == 0 and digest(ran.out) == digest(BIG), ran


def test_scp_get(start):
    peer = start("asyncssh")
    for name in ["text", "empty", "big"]:
        assert digest(peer.get(name, "scp")) == digest((peer.folder / name).read_bytes())
    assert peer.run(peer.url("absent", "scp")).code in (78, 79)


def test_scp_put(start, tmp_path):
    peer = start("asyncssh")
    for name, octets in [("small", b"x"), ("large", BIG), ("none", b"")]:
        mine = tmp_path / name
        mine.write_bytes(octets)
        ran = peer.run("-T", mine, peer.url(f"put-{name}", "scp"))
        assert ran.code == 0 and digest((peer.folder / f"put-{name}").read_bytes()) == digest(octets), ran


def test_a_server_that_ends_in_the_middle(start, tmp_path):
    peer = start("paramiko")

    def ended(self, path, flags, attributes):
        for transport in peer.server.transports:
            transport.close()
        return paramiko.SFTP_FAILURE

    peer.server.files.open = ended
    ran = peer.run("-o", tmp_path / "out", peer.url("big"), seconds=20)
    assert ran.code not in (0, 28), ran
