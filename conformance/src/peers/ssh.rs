//! SFTP and SCP: OpenSSH's own server, one process for each connection (`sshd -i`), with keys made for the
//! run. Unlike the other peers it is not written here: a second SSH server would teach nothing, and curl's
//! harness uses this one.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use testkit::launch::{fingerprint, keygen, sshd_program};

use super::wire::Conn;
use super::{CaseContext, Peer};
use crate::prepro::Variables;

const SFTP_SERVER: &str = "/usr/lib/openssh/sftp-server";
const HOST_KEY: &str = "curl_host_rsa_key";
const CLIENT_KEY: &str = "curl_client_key";

pub fn server() -> Arc<dyn Peer> {
    Arc::new(Ssh)
}

/// Whether OpenSSH's server is on this machine.
pub fn is_there() -> bool {
    sshd_program().is_ok() && Path::new(SFTP_SERVER).exists()
}

struct Ssh;

impl Peer for Ssh {
    fn serve(&self, conn: &mut Conn, stage: &CaseContext) {
        if let Err(e) = talk(conn, stage) {
            stage.note("ssh", "*", e.to_string().as_bytes());
        }
    }
}

/// The keys of the run, for the variables of the cases.
struct Keys {
    folder: PathBuf,
    md5: String,
    sha256: String,
}

static KEYS: OnceLock<Result<Keys, String>> = OnceLock::new();

/// Puts the keys where a case looks for them, and sets their fingerprints. `shared` is a directory of the
/// whole run.
pub fn lay_out(shared: &Path, log: &Path, variables: &mut Variables) -> Result<(), String> {
    let keys = KEYS.get_or_init(|| make(shared)).as_ref().map_err(Clone::clone)?;
    let folder = log.join("server");
    fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    for name in
        [CLIENT_KEY.to_owned(), format!("{CLIENT_KEY}.pub"), HOST_KEY.into(), format!("{HOST_KEY}.pub")]
    {
        fs::copy(keys.folder.join(&name), folder.join(&name)).map_err(|e| format!("{name}: {e}"))?;
    }
    fs::write(folder.join("sshd_config"), config(&folder)).map_err(|e| e.to_string())?;
    variables.set("SSHSRVMD5", keys.md5.clone());
    variables.set("SSHSRVSHA256", keys.sha256.clone());
    variables.set("SSHKEYALGO", "ssh-rsa");
    Ok(())
}

fn make(shared: &Path) -> Result<Keys, String> {
    let folder = shared.join("ssh");
    fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    for name in [HOST_KEY, CLIENT_KEY] {
        keygen(&folder, name, &["-t", "rsa", "-b", "2048", "-m", "PEM", "-N", ""])
            .map_err(|e| e.to_string())?;
    }
    let public = folder.join(format!("{HOST_KEY}.pub"));
    let fingerprint = |kind| fingerprint(&public, kind).map_err(|e| e.to_string());
    Ok(Keys { md5: fingerprint("md5")?.replace(':', ""), sha256: fingerprint("sha256")?, folder })
}

fn config(folder: &Path) -> String {
    let folder = folder.display();
    format!(
        "HostKey {folder}/{HOST_KEY}\nAuthorizedKeysFile {folder}/{CLIENT_KEY}.pub\nSubsystem sftp {SFTP_SERVER}\n\
         PermitRootLogin yes\nPubkeyAuthentication yes\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n\
         HostKeyAlgorithms +ssh-rsa\nPubkeyAcceptedAlgorithms +ssh-rsa\nStrictModes no\nUsePAM no\nUseDNS no\n\
         PrintMotd no\nPidFile none\nLogLevel VERBOSE\nMaxStartups 100\n"
    )
}

fn talk(conn: &mut Conn, stage: &CaseContext) -> std::io::Result<()> {
    let Some(socket) = conn.tcp() else { return Ok(()) };
    socket.set_read_timeout(None)?;
    socket.set_write_timeout(None)?;
    let input = OwnedFd::from(socket.try_clone()?);
    let output = OwnedFd::from(socket.try_clone()?);
    let log = fs::File::create(stage.log.join("sshd.log"))?;
    let mut server = Command::new(sshd_program()?)
        .args(["-i", "-e", "-f"])
        .arg(stage.log.join("server/sshd_config"))
        .stdin(input)
        .stdout(output)
        .stderr(log)
        .process_group(0)
        .spawn()?;
    while server.try_wait()?.is_none() {
        if stage.stopped() {
            if let Some(group) = rustix::process::Pid::from_raw(server.id() as i32) {
                let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
            }
            return server.wait().map(drop);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}
