//! Apache httpd over TLS that requests the client's certificate late: when an unauthenticated connection
//! requests a private file. With TLS 1.3 that is post-handshake authentication, with TLS 1.2 a renegotiation.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use super::negotiate::ECHO;
use super::{Running, free_port, program, run, with_retries};
use crate::body::pattern;
use crate::certs::{Authority, Leaf};
use crate::temp::TempDir;

/// `/bytes-N` is everybody's; `/private/bytes-N` and `/private/echo`, which sends back its input, want a
/// certificate of the authority's.
pub struct AskingApache {
    _running: Running,
    _directory: TempDir,
    pub port: u16,
}

impl AskingApache {
    pub fn start(leaf: &Leaf, authority: &Authority, size: usize) -> io::Result<AskingApache> {
        with_retries(|| AskingApache::try_start(leaf, authority, size))
    }

    fn try_start(leaf: &Leaf, authority: &Authority, size: usize) -> io::Result<AskingApache> {
        let program = program("apache2", "apache2")?;
        let directory = TempDir::new("asking")?;
        for place in ["", "private/"] {
            directory.write(&format!("root/{place}bytes-{size}"), pattern(size))?;
        }
        let echo = directory.write("root/private/echo", ECHO)?;
        std::fs::set_permissions(echo, PermissionsExt::from_mode(0o755))?;
        // Started as root, Apache becomes www-data, who reads here.
        for place in ["", "root", "root/private"] {
            std::fs::set_permissions(directory.path().join(place), PermissionsExt::from_mode(0o777))?;
        }
        directory.write("cert.pem", &leaf.cert_pem)?;
        directory.write("key.pem", &leaf.key_pem)?;
        directory.write("ca.pem", authority.ca_pem())?;
        let port = free_port()?;
        let file = directory.write("apache.conf", config(directory.path(), port))?;
        let mut command = Command::new(program);
        command.arg("-D").arg("FOREGROUND").arg("-f").arg(file);
        let running = run(command, &directory.path().join("log"), &[port])?;
        Ok(AskingApache { _running: running, _directory: directory, port })
    }

    pub fn url(&self, path: &str) -> String {
        format!("https://localhost:{}{path}", self.port)
    }
}

fn config(directory: &Path, port: u16) -> String {
    let place = directory.display();
    let modules: String = ["mpm_event", "authz_core", "cgid", "mime", "ssl"]
        .iter()
        .map(|module| format!("LoadModule {module}_module /usr/lib/apache2/modules/mod_{module}.so\n"))
        .collect();
    format!(
        "ServerRoot {place}\nPidFile {place}/pid\nListen 127.0.0.1:{port}\nServerName localhost\n{modules}
User www-data\nGroup www-data\nErrorLog {place}/error.log\nDocumentRoot {place}/root\nDefaultRuntimeDir {place}
ScriptSock {place}/cgid\nKeepAlive On\nMaxKeepAliveRequests 0\nTypesConfig /etc/mime.types\nSSLEngine on
SSLProtocol -all +TLSv1.2 +TLSv1.3\nSSLSessionCache none\nSSLCertificateFile {place}/cert.pem
SSLCertificateKeyFile {place}/key.pem\nSSLCACertificateFile {place}/ca.pem
<Directory {place}/root>\nRequire all granted\nOptions +ExecCGI\n<Files echo>\nSetHandler cgi-script\n</Files>\n</Directory>
<Location /private/>\nSSLVerifyClient require\n</Location>\n"
    )
}
