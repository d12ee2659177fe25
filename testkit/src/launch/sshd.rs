//! OpenSSH's server with keys of its own, for root, and dropbear beside it. Where passwords are wanted it runs in a mount
//! namespace of its own, in which /etc/passwd and /etc/shadow are ours: the machine's users are not touched.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Running, free_port, program, run, with_retries};
use crate::temp::TempDir;

/// The user that the servers know, and its password where passwords are wanted.
pub const USER: &str = "root";
pub const PASSWORD: &str = "secret word";

/// A server, ended on drop.
pub struct Sshd {
    _running: Running,
    directory: TempDir,
    pub port: u16,
}

impl Sshd {
    /// With this beside what is always configured (sshd_config(5)).
    pub fn start(config: &str) -> io::Result<Sshd> {
        with_retries(|| Sshd::try_start(config, false))
    }

    /// The same with [`PASSWORD`] as the user's, by PAM.
    pub fn start_with_password(config: &str) -> io::Result<Sshd> {
        with_retries(|| Sshd::try_start(config, true))
    }

    fn try_start(config: &str, password: bool) -> io::Result<Sshd> {
        let program = program("sshd", "openssh-server")?;
        let directory = prepared()?;
        let port = free_port()?;
        let place = directory.path().display();
        let pam = if password { "yes" } else { "no" };
        let hosts: String =
            ["ed25519", "ecdsa", "rsa"].map(|kind| format!("HostKey {place}/host_{kind}\n")).concat();
        let text = format!(
            "{config}\nPort {port}\nListenAddress 127.0.0.1\n{hosts}AuthorizedKeysFile {place}/authorized_keys\n\
             Subsystem sftp /usr/lib/openssh/sftp-server\nStrictModes no\nUsePAM {pam}\nUseDNS no\n\
             PermitRootLogin yes\nPidFile none\nPrintMotd no\nMaxStartups 1000\nLogLevel VERBOSE\n"
        );
        let file = directory.write("sshd_config", text)?;
        // It does not start as root without it, and only a boot makes it.
        let _ = fs::create_dir_all("/run/sshd");
        let arguments = ["-D".into(), "-e".into(), "-f".into(), file.display().to_string()];
        let command = if password {
            with_password(&directory, &program, &arguments)?
        } else {
            plain(&program, &arguments)
        };
        let running = run(command, &directory.path().join("log"), &[port])?;
        Ok(Sshd { _running: running, directory, port })
    }

    pub fn url(&self, scheme: &str, path: &str) -> String {
        format!("{scheme}://{USER}@127.0.0.1:{}{path}", self.port)
    }

    /// Where its files are: `host_KIND`, `user_KIND` (each with `.pub`) and what a test puts there.
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

    /// What it has written down.
    pub fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap_or_default()
    }
}

/// Keys of the host and of the user.
fn prepared() -> io::Result<TempDir> {
    let directory = TempDir::new("sshd")?;
    fs::set_permissions(directory.path(), PermissionsExt::from_mode(0o755))?;
    let mut authorized = String::new();
    for (name, kind, bits) in [
        ("host_ed25519", "ed25519", "256"),
        ("host_ecdsa", "ecdsa", "256"),
        ("host_rsa", "rsa", "2048"),
        ("user_ed25519", "ed25519", "256"),
    ] {
        keygen(directory.path(), name, &["-t", kind, "-b", bits, "-N", ""])?;
        if name.starts_with("user") {
            authorized += &fs::read_to_string(directory.path().join(format!("{name}.pub")))?;
        }
    }
    directory.write("authorized_keys", authorized)?;
    Ok(directory)
}

/// A key pair in the folder, by ssh-keygen(1).
pub fn keygen(folder: &Path, name: &str, arguments: &[&str]) -> io::Result<()> {
    let mut command = Command::new(program("ssh-keygen", "openssh-client")?);
    command.args(["-q", "-C", "test"]).args(arguments).arg("-f").arg(folder.join(name));
    let output = command.stdin(Stdio::null()).output()?;
    match output.status.success() {
        true => Ok(()),
        false => Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned())),
    }
}

fn plain(program: &Path, arguments: &[String]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments);
    command
}

/// The server under unshare(1), with our passwd(5) and shadow(5) laid over the machine's.
fn with_password(directory: &TempDir, program: &Path, arguments: &[String]) -> io::Result<Command> {
    let hash = Command::new("openssl").args(["passwd", "-6", PASSWORD]).output()?;
    let hash = String::from_utf8_lossy(&hash.stdout).trim().to_owned();
    let other = |file: &str| fs::read_to_string(file).unwrap_or_default();
    let others = |text: String| -> String {
        let lines = text.lines().filter(|line| !line.starts_with("root:"));
        lines.map(|line| format!("{line}\n")).collect()
    };
    let passwd = format!("root:x:0:0:root:/root:/bin/sh\n{}", others(other("/etc/passwd")));
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
