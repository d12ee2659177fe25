//! OpenSSH's server with its own keys, for root; also dropbear and a server in Go. If passwords or another
//! home directory are needed, it runs in a mount namespace with our own /etc/passwd and /etc/shadow: the
//! machine's users are not touched.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use super::ftpd::target;
use super::{Running, free_port, inside, listens_inside, program, run, run_until, with_retries};
use crate::temp::TempDir;

/// The user that the servers know, and its password where passwords are wanted.
pub const USER: &str = "root";
pub const PASSWORD: &str = "secret word";

/// OpenSSH's server of SFTP alone, a subsystem of sshd.
const SFTP_SERVER: &str = "/usr/lib/openssh/sftp-server";

/// A server, ended on drop.
pub struct Sshd {
    _running: Running,
    directory: TempDir,
    pub port: u16,
}

impl Sshd {
    /// Starts it with this configuration in addition to the default one (sshd_config(5)).
    pub fn start(config: &str) -> io::Result<Sshd> {
        with_retries(|| Sshd::try_start(config, false))
    }

    /// Like `start`, with [`PASSWORD`] as the user's, by PAM.
    pub fn start_with_password(config: &str) -> io::Result<Sshd> {
        with_retries(|| Sshd::try_start(config, true))
    }

    /// Starts a server in a network namespace, at an address of its own, with SFTP in the server itself: no
    /// shell of the user takes time before it.
    pub fn start_in(namespace: &str, address: &str, port: u16, config: &str) -> io::Result<Sshd> {
        let program = sshd_program()?;
        let directory = prepared()?;
        let text = configuration(&directory, (address, port), "internal-sftp", "no", config);
        let file = directory.write("sshd_config", text)?;
        let mut command = inside(namespace, program);
        command.args(["-D", "-e", "-f"]).arg(file);
        let up = || listens_inside(namespace, address, port);
        let running = run_until(command, &directory.path().join("log"), up)?;
        Ok(Sshd { _running: running, directory, port })
    }

    fn try_start(config: &str, password: bool) -> io::Result<Sshd> {
        let program = sshd_program()?;
        let directory = prepared()?;
        let port = free_port()?;
        let pam = if password { "yes" } else { "no" };
        let text = configuration(&directory, ("127.0.0.1", port), SFTP_SERVER, pam, config);
        let file = directory.write("sshd_config", text)?;
        let arguments = ["-D".into(), "-e".into(), "-f".into(), file.display().to_string()];
        let command = if password {
            with_password(&directory, "/root", &program, &arguments)?
        } else {
            plain(&program, &arguments)
        };
        let running = run(command, &directory.path().join("log"), &[port])?;
        Ok(Sshd { _running: running, directory, port })
    }

    /// Starts dropbear with additional arguments (dropbear(8)). The user has the same keys and the same
    /// [`PASSWORD`], and the directory of the server's files as home.
    pub fn dropbear(more: &[&str]) -> io::Result<Sshd> {
        with_retries(|| Sshd::try_dropbear(more))
    }

    fn try_dropbear(more: &[&str]) -> io::Result<Sshd> {
        let program = program("dropbear", "dropbear-bin")?;
        let directory = prepared()?;
        let port = free_port()?;
        let place = directory.path();
        fs::create_dir_all(place.join(".ssh"))?;
        // It reads the keys only from there; a test may write others into the file that both servers use.
        std::os::unix::fs::symlink(place.join("authorized_keys"), place.join(".ssh/authorized_keys"))?;
        let mut arguments: Vec<String> = ["-F", "-E", "-p"].map(str::to_owned).to_vec();
        arguments.push(format!("127.0.0.1:{port}"));
        for kind in ["ed25519", "ecdsa", "rsa"] {
            let own = place.join(format!("dropbear_{kind}"));
            let mut convert = Command::new(super::program("dropbearconvert", "dropbear-bin")?);
            convert.args(["openssh", "dropbear"]).arg(place.join(format!("host_{kind}"))).arg(&own);
            done(&mut convert)?;
            arguments.extend(["-r".to_owned(), own.display().to_string()]);
        }
        arguments.extend(more.iter().map(|argument| (*argument).to_owned()));
        let command = with_password(&directory, &place.display().to_string(), &program, &arguments)?;
        let running = run(command, &place.join("log"), &[port])?;
        Ok(Sshd { _running: running, directory, port })
    }

    /// Starts a server on Go's x/crypto, with only this key exchange, rekeying after that many octets, and
    /// for SCP the file `file`, whatever name is requested; tests/install.sh builds the program.
    pub fn go(method: &str, renewed: u64, file: &[u8]) -> io::Result<Sshd> {
        let program = target().join("ssh-go/server");
        if !program.is_file() {
            let text = format!("{} is missing: run tests/install.sh ssh_server", program.display());
            return Err(io::Error::new(io::ErrorKind::NotFound, text));
        }
        let directory = prepared()?;
        let place = |name| directory.path().join(name);
        let file = directory.write("file", file)?;
        let port_file = place("port");
        let mut command = Command::new(program);
        command.arg(&port_file).args(["host_ed25519", "user_ed25519.pub"].map(place));
        command.args([method, &renewed.to_string()]).arg(file);
        let running = run_until(command, &place("log"), || port_file.exists())?;
        let port = fs::read_to_string(&port_file)?.parse().map_err(io::Error::other)?;
        Ok(Sshd { _running: running, directory, port })
    }

    pub fn url(&self, scheme: &str, path: &str) -> String {
        format!("{scheme}://{USER}@127.0.0.1:{}{path}", self.port)
    }

    /// Returns the path of a file: `host_KIND`, `user_KIND` (each with `.pub`), or one of the test.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> io::Result<PathBuf> {
        self.directory.write(name, bytes)
    }

    /// A known_hosts file with its host keys.
    pub fn known_hosts(&self) -> io::Result<PathBuf> {
        let mut text = String::new();
        for kind in ["ed25519", "ecdsa", "rsa"] {
            let public = fs::read_to_string(self.path(&format!("host_{kind}.pub")))?;
            text += &format!("[127.0.0.1]:{} {public}", self.port);
        }
        self.write("known_hosts", text)
    }

    /// Returns its log.
    pub fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap_or_default()
    }
}

/// Returns the default configuration, preceded by this text.
fn configuration(
    directory: &TempDir,
    (address, port): (&str, u16),
    sftp: &str,
    pam: &str,
    more: &str,
) -> String {
    let place = directory.path().display();
    let hosts = ["ed25519", "ecdsa", "rsa"].map(|kind| format!("HostKey {place}/host_{kind}\n")).concat();
    format!(
        "{more}\nPort {port}\nListenAddress {address}\n{hosts}AuthorizedKeysFile {place}/authorized_keys\n\
         Subsystem sftp {sftp}\nStrictModes no\nUsePAM {pam}\nUseDNS no\n\
         PermitRootLogin yes\nPidFile none\nPrintMotd no\nMaxStartups 1000\nLogLevel VERBOSE\n"
    )
}

/// Keys of the host and of the user.
fn prepared() -> io::Result<TempDir> {
    let directory = TempDir::new("sshd")?;
    fs::set_permissions(directory.path(), PermissionsExt::from_mode(0o755))?;
    let mut authorized = String::new();
    for (name, kind) in [("host_ed25519", "ed25519"), ("host_ecdsa", "ecdsa"), ("user_ed25519", "ed25519")] {
        keygen(directory.path(), name, &["-t", kind, "-N", ""])?;
        if name.starts_with("user") {
            authorized += &fs::read_to_string(directory.path().join(format!("{name}.pub")))?;
        }
    }
    copy_rsa_key(directory.path())?;
    directory.write("authorized_keys", authorized)?;
    Ok(directory)
}

/// Writes the RSA key of the host, `host_rsa`, with its public half. All servers of a process have this one:
/// a search for primes takes half a second.
fn copy_rsa_key(folder: &Path) -> io::Result<()> {
    static KEY: Mutex<Option<[Vec<u8>; 2]>> = Mutex::new(None);
    let files = ["host_rsa", "host_rsa.pub"].map(|name| folder.join(name));
    let mut key = KEY.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(known) = &*key else {
        keygen(folder, "host_rsa", &["-t", "rsa", "-b", "2048", "-N", ""])?;
        let [private, public] = files.map(fs::read);
        *key = Some([private?, public?]);
        return Ok(());
    };
    for (file, content) in files.iter().zip(known) {
        fs::write(file, content)?;
        // sshd(8) refuses a private key that others may read.
        fs::set_permissions(file, PermissionsExt::from_mode(0o600))?;
    }
    Ok(())
}

/// Returns OpenSSH's server, and makes the directory without which it does not start as root: otherwise only
/// a boot makes it.
pub fn sshd_program() -> io::Result<PathBuf> {
    let program = program("sshd", "openssh-server")?;
    let _ = fs::create_dir_all("/run/sshd");
    Ok(program)
}

/// Returns the fingerprint of a public key, by ssh-keygen(1): `kind` is md5 or sha256.
pub fn fingerprint(public: &Path, kind: &str) -> io::Result<String> {
    let mut command = Command::new(program("ssh-keygen", "openssh-client")?);
    let output = command.args(["-l", "-E", kind, "-f"]).arg(public).stdin(Stdio::null()).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let word = text.split(' ').nth(1).and_then(|word| word.split_once(':'));
    word.map(|(_, print)| print.to_owned()).ok_or_else(|| io::Error::other(format!("ssh-keygen: {text}")))
}

/// A key pair in the folder, by ssh-keygen(1).
pub fn keygen(folder: &Path, name: &str, arguments: &[&str]) -> io::Result<()> {
    let mut command = Command::new(program("ssh-keygen", "openssh-client")?);
    command.args(["-q", "-C", "test"]).args(arguments).arg("-f").arg(folder.join(name));
    done(&mut command)
}

fn done(command: &mut Command) -> io::Result<()> {
    let output = command.stdin(Stdio::null()).output()?;
    match output.status.success() {
        true => Ok(()),
        false => Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned())),
    }
}

/// ssh-agent(1) with keys in it, ended on drop.
pub struct Agent {
    _running: Running,
    directory: TempDir,
}

impl Agent {
    /// Starts an agent with these private keys.
    pub fn start(keys: &[&Path]) -> io::Result<Agent> {
        let directory = TempDir::new("agent")?;
        let mut command = Command::new(program("ssh-agent", "openssh-client")?);
        command.arg("-D").arg("-a").arg(directory.path().join("socket"));
        let socket = directory.path().join("socket");
        let running = run_until(command, &directory.path().join("log"), || socket.exists())?;
        let agent = Agent { _running: running, directory };
        for key in keys {
            let mut add = Command::new(program("ssh-add", "openssh-client")?);
            done(add.arg("-q").arg(key).env("SSH_AUTH_SOCK", agent.socket()))?;
        }
        Ok(agent)
    }

    /// Returns the value of SSH_AUTH_SOCK.
    pub fn socket(&self) -> PathBuf {
        self.directory.path().join("socket")
    }
}

fn plain(program: &Path, arguments: &[String]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments);
    command
}

/// The server under unshare(1), with our passwd(5) and shadow(5) laid over the machine's.
fn with_password(
    directory: &TempDir,
    home: &str,
    program: &Path,
    arguments: &[String],
) -> io::Result<Command> {
    let hash = Command::new("openssl").args(["passwd", "-6", PASSWORD]).output()?;
    let hash = String::from_utf8_lossy(&hash.stdout).trim().to_owned();
    let other = |file: &str| fs::read_to_string(file).unwrap_or_default();
    let others = |text: String| -> String {
        let lines = text.lines().filter(|line| !line.starts_with("root:"));
        lines.map(|line| format!("{line}\n")).collect()
    };
    let passwd = format!("root:x:0:0:root:{home}:/bin/sh\n{}", others(other("/etc/passwd")));
    let shadow = format!("root:{hash}:19000:0:99999:7:::\n{}", others(other("/etc/shadow")));
    let (passwd, shadow) = (directory.write("passwd", passwd)?, directory.write("shadow", shadow)?);
    let script = format!(
        "mount --bind {} /etc/passwd && mount --bind {} /etc/shadow && exec \"$0\" \"$@\"",
        passwd.display(),
        shadow.display()
    );
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", &script]).arg(program).args(arguments);
    Ok(command)
}
