"""SSH servers of two other implementations in this process: asyncssh and paramiko.

Each serves one folder by SFTP to one user, by password and by public key.
"""

import asyncio
import contextlib
import os
import pathlib
import socket
import threading

import asyncssh
import paramiko

USER = "user"
PASSWORD = "a secret word"
HOST_KEY_TYPES = ["ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "ssh-rsa"]


def make_key(folder, name, kind="ssh-ed25519", passphrase=None):
    """Writes a private key and its public half, and returns the private one's path."""
    size = {"key_size": 2048} if kind == "ssh-rsa" else {}
    key = asyncssh.generate_private_key(kind, **size)
    path = pathlib.Path(folder) / name
    key.write_private_key(str(path), passphrase=passphrase)
    if kind.startswith("ecdsa"):
        # Paramiko reads keys of these curves in this form alone.
        key.write_private_key(f"{path}.pem", format_name="pkcs1-pem")
    key.write_public_key(f"{path}.pub")
    path.chmod(0o600)
    return path


class AsyncsshUser(asyncssh.SSHServer):
    """Knows one user; `methods` says which logins it takes."""

    def __init__(self, methods, connections):
        self.methods, self.connections = methods, connections

    def connection_made(self, connection):
        self.connections.append(connection)

    def begin_auth(self, username):
        return True

    def password_auth_supported(self):
        return "password" in self.methods

    def validate_password(self, username, password):
        return (username, password) == (USER, PASSWORD)

    def kbdint_auth_supported(self):
        return "keyboard-interactive" in self.methods

    def get_kbdint_challenge(self, username, lang, submethods):
        return ("", "", "", [("Password:", False)]) if username == USER else False

    def validate_kbdint_response(self, username, responses):
        return username == USER and list(responses) == [PASSWORD]


class AsyncsshServer:
    """An asyncssh server in a thread with an event loop."""

    def __init__(self, folder, host_key, authorized=None, methods=("password",), **options):
        self.folder = pathlib.Path(folder)
        self.loop = asyncio.new_event_loop()
        self.connections = []
        options.setdefault("allow_scp", True)
        options.setdefault("sftp_factory", lambda chan: asyncssh.SFTPServer(chan, chroot=str(folder)))
        # The thread runs the loop until `close`; nothing else touches it.
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.server = self.call(self.listen(host_key, authorized, methods, options))
        self.port = self.server.get_port()

    async def listen(self, host_key, authorized, methods, options):
        return await asyncssh.listen(
            "127.0.0.1",
            0,
            server_host_keys=[str(host_key)],
            server_factory=lambda: AsyncsshUser(methods, self.connections),
            authorized_client_keys=str(authorized) if authorized else None,
            **options,
        )

    def call(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(30)

    def close(self):
        if self.loop.is_running():
            self.call(self.end())
            self.loop.call_soon_threadsafe(self.loop.stop)
            self.thread.join(10)

    async def end(self):
        """Ends the server and its connections."""
        self.server.close()
        for connection in self.connections:
            connection.abort()


class ParamikoUser(paramiko.ServerInterface):
    """Knows one user and the public keys of a file."""

    def __init__(self, authorized, methods):
        self.methods = methods
        self.keys = []
        if authorized:
            for line in pathlib.Path(authorized).read_text().splitlines():
                self.keys.append(line.split()[1])

    def get_allowed_auths(self, username):
        return ",".join(self.methods)

    def check_auth_password(self, username, password):
        good = "password" in self.methods and (username, password) == (USER, PASSWORD)
        return paramiko.AUTH_SUCCESSFUL if good else paramiko.AUTH_FAILED

    def check_auth_publickey(self, username, key):
        good = username == USER and key.get_base64() in self.keys
        return paramiko.AUTH_SUCCESSFUL if good else paramiko.AUTH_FAILED

    def check_auth_interactive(self, username, submethods):
        if "keyboard-interactive" not in self.methods:
            return paramiko.AUTH_FAILED
        return paramiko.InteractiveQuery("", "", ("Password:", False))

    def check_auth_interactive_response(self, responses):
        return paramiko.AUTH_SUCCESSFUL if list(responses) == [PASSWORD] else paramiko.AUTH_FAILED

    def check_channel_request(self, kind, channel_id):
        good = kind == "session"
        return paramiko.OPEN_SUCCEEDED if good else paramiko.OPEN_FAILED_ADMINISTRATIVELY_PROHIBITED


class Files(paramiko.SFTPServerInterface):
    """The files below one folder, whatever `..` a name has."""

    root = "/nonexistent"

    def real(self, path):
        return self.root + self.canonicalize(path)

    @staticmethod
    def code(action):
        try:
            action()
        except OSError as error:
            return paramiko.SFTPServer.convert_errno(error.errno)
        return paramiko.SFTP_OK

    def facts(self, look, path):
        try:
            return paramiko.SFTPAttributes.from_stat(look(self.real(path)))
        except OSError as error:
            return paramiko.SFTPServer.convert_errno(error.errno)

    def stat(self, path):
        return self.facts(os.stat, path)

    def lstat(self, path):
        return self.facts(os.lstat, path)

    def list_folder(self, path):
        folder = self.real(path)
        try:
            names = sorted(os.listdir(folder))
        except OSError as error:
            return paramiko.SFTPServer.convert_errno(error.errno)
        return [paramiko.SFTPAttributes.from_stat(os.lstat(f"{folder}/{name}"), name) for name in names]

    def open(self, path, flags, attributes):
        try:
            number = os.open(self.real(path), flags, attributes.st_mode or 0o644)
        except OSError as error:
            return paramiko.SFTPServer.convert_errno(error.errno)
        writes = flags & (os.O_WRONLY | os.O_RDWR)
        mode = "ab" if flags & os.O_APPEND else "r+b" if flags & os.O_RDWR else "wb" if writes else "rb"
        handle = paramiko.SFTPHandle(flags)
        handle.readfile = handle.writefile = os.fdopen(number, mode)
        handle.stat = lambda: paramiko.SFTPAttributes.from_stat(os.fstat(number))
        handle.chattr = lambda attributes: paramiko.SFTP_OK
        return handle

    def remove(self, path):
        return self.code(lambda: os.remove(self.real(path)))

    def rename(self, old, new):
        return self.code(lambda: os.rename(self.real(old), self.real(new)))

    posix_rename = rename

    def mkdir(self, path, attributes):
        return self.code(lambda: os.mkdir(self.real(path)))

    def rmdir(self, path):
        return self.code(lambda: os.rmdir(self.real(path)))

    def chattr(self, path, attributes):
        return self.code(lambda: paramiko.SFTPServer.set_file_attr(self.real(path), attributes))

    def symlink(self, target, path):
        return self.code(lambda: os.symlink(target, self.real(path)))


class ParamikoServer:
    """A paramiko server; each connection has paramiko's own thread."""

    def __init__(self, folder, host_key, authorized=None, methods=("password",), adjust=None):
        pem = pathlib.Path(f"{host_key}.pem")
        self.key = paramiko.PKey.from_path(str(pem if pem.exists() else host_key))
        self.authorized, self.methods = authorized, methods
        # Sets what the test wants on a new connection.
        self.adjust = adjust or (lambda transport: None)
        self.files = type("FolderFiles", (Files,), {"root": str(folder)})
        self.transports = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.accept, daemon=True)
        self.thread.start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            transport = paramiko.Transport(connection)
            transport.add_server_key(self.key)
            transport.set_subsystem_handler("sftp", paramiko.SFTPServer, self.files)
            self.adjust(transport)
            self.transports.append(transport)
            with contextlib.suppress(Exception):
                transport.start_server(event=threading.Event(), server=ParamikoUser(self.authorized, self.methods))

    def close(self):
        # `shutdown` ends an `accept` that waits; `close` alone does not.
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for transport in self.transports:
            transport.close()
        self.thread.join(10)
