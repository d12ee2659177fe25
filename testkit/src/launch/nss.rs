//! NSS's selfserv, a third-party server with Encrypted Client Hello (Debian's libnss3-tools). It shows the
//! received request.

use std::io::{self, Read};
use std::path::Path;
use std::process::{Command, Stdio};

use super::{Running, free_port, program, run, with_retries};
use crate::base64;
use crate::certs::Leaf;
use crate::temp::TempDir;

/// The name in the outer hello.
pub const COVER: &str = "cover.example";

/// The server, ended when dropped.
pub struct EchServer {
    _running: Running,
    _directory: TempDir,
    pub port: u16,
    /// Its ECHConfigList, in base64.
    pub configs: String,
    /// One of another key, which it can't open.
    pub foreign: String,
}

impl EchServer {
    pub fn start(leaf: &Leaf) -> io::Result<EchServer> {
        let server = program("selfserv", "libnss3-tools")?;
        let directory = TempDir::new("nss")?;
        let path = directory.path().to_owned();
        store(leaf, &directory)?;
        let (key, foreign) = (key_pair()?, key_pair()?);
        let list = list_of(&key.1);
        let own = [&length(&private_key(&key))[..], &private_key(&key), &list].concat();
        let own = base64::encode(&own);
        let (running, port) = with_retries(|| {
            let port = free_port()?;
            let mut command = Command::new(&server);
            command.args(["-n", "server", "-d"]).arg(database(&path)).args(["-p", &port.to_string()]);
            command.args(["-V", "tls1.3:tls1.3", "-X", &own]);
            Ok((run(command, &path.join("log"), &[port])?, port))
        })?;
        let foreign = base64::encode(&list_of(&foreign.1));
        Ok(EchServer {
            _running: running,
            _directory: directory,
            port,
            configs: base64::encode(&list),
            foreign,
        })
    }
}

/// The certificate into a database of NSS's.
fn store(leaf: &Leaf, directory: &TempDir) -> io::Result<()> {
    let path = directory.path();
    let pair = directory.write("pair.pem", format!("{}{}", leaf.cert_pem, leaf.key_pem))?;
    let bundle = path.join("pair.p12");
    let made = ["pkcs12", "-export", "-name", "server", "-passout", "pass:x", "-in"];
    finish(Command::new("openssl").args(made).arg(pair).arg("-out").arg(&bundle))?;
    finish(Command::new("certutil").args(["-N", "--empty-password", "-d"]).arg(database(path)))?;
    let mut import = Command::new("pk12util");
    finish(import.args(["-W", "x", "-K", "", "-i"]).arg(bundle).arg("-d").arg(database(path)))?;
    Ok(())
}

fn database(path: &Path) -> String {
    format!("sql:{}", path.display())
}

fn finish(command: &mut Command) -> io::Result<Vec<u8>> {
    let done = command.stdin(Stdio::null()).output()?;
    match done.status.success() {
        true => Ok(done.stdout),
        false => Err(io::Error::other(format!("{command:?}: {}", String::from_utf8_lossy(&done.stderr)))),
    }
}

type Bytes32 = [u8; 32];

/// Returns the private and the public key of X25519, which are at the end of openssl's output.
fn key_pair() -> io::Result<(Bytes32, Bytes32)> {
    let directory = TempDir::new("x25519")?;
    let file = directory.path().join("key");
    let last = |der: Vec<u8>| der.last_chunk::<32>().copied().ok_or_else(|| io::Error::other("no key"));
    let made = ["genpkey", "-algorithm", "X25519", "-outform", "DER", "-out"];
    finish(Command::new("openssl").args(made).arg(&file))?;
    let mut private = Vec::new();
    std::fs::File::open(&file)?.read_to_end(&mut private)?;
    let shown = ["pkey", "-inform", "DER", "-pubout", "-outform", "DER", "-in"];
    let public = finish(Command::new("openssl").args(shown).arg(&file))?;
    Ok((last(private)?, last(public)?))
}

/// An ECHConfigList of one configuration (RFC 9849, section 4): HKDF-SHA256 with each AEAD.
fn list_of(public: &Bytes32) -> Vec<u8> {
    let suites = [0, 1, 0, 1, 0, 1, 0, 3, 0, 1, 0, 2];
    let head = [&[7, 0, 0x20][..], &length(public), public, &length(&suites), &suites].concat();
    let contents = [&head[..], &[64, COVER.len() as u8], COVER.as_bytes(), &[0, 0]].concat();
    let config = [&[0xfe, 0x0d][..], &length(&contents), &contents].concat();
    [&length(&config)[..], &config].concat()
}

/// PKCS#8 as NSS reads it: the curve by its old number.
fn private_key((private, public): &(Bytes32, Bytes32)) -> Vec<u8> {
    let curve = [0x06, 7, 0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1, 6, 9, 0x2b, 6, 1, 4, 1, 0xda, 0x47, 0x0f, 1];
    let head = [&[0x30, 0x67, 2, 1, 0, 0x30, 0x14][..], &curve].concat();
    let inner = [&[4, 0x4c, 0x30, 0x4a, 2, 1, 1, 4, 32][..], private].concat();
    [&head[..], &inner, &[0xa1, 0x23, 3, 0x21, 0], public].concat()
}

fn length(bytes: &[u8]) -> [u8; 2] {
    (bytes.len() as u16).to_be_bytes()
}
