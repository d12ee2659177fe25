//! Apache httpd with mod_auth_gssapi in a Kerberos realm, over HTTP and TLS: locations with different
//! Negotiate policies. Every reply has the user in `X-User`, and the path of a delegated ticket in
//! `X-Tickets`.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::{Kerberos, Running, free_port, program, run, with_retries};
use crate::certs::Leaf;
use crate::temp::TempDir;

/// `/each/` requires a context for every request, `/bound/` for every connection, `/either/` also accepts
/// Basic with the user's password, `/open/` requires nothing; each has the file `file` and a program `echo`
/// that returns its input.
pub struct NegotiateServer {
    _running: Running,
    _directory: TempDir,
    pub port: u16,
    pub tls_port: u16,
}

/// A program of CGI that sends back its input.
pub(super) const ECHO: &str = "#!/bin/sh\nprintf 'Content-Type: text/plain\\r\\n\\r\\n'\nexec cat\n";

impl NegotiateServer {
    pub fn start(realm: &Kerberos, leaf: &Leaf) -> io::Result<NegotiateServer> {
        with_retries(|| NegotiateServer::try_start(realm, leaf))
    }

    fn try_start(realm: &Kerberos, leaf: &Leaf) -> io::Result<NegotiateServer> {
        let program = program("apache2", "apache2")?;
        let module = std::path::Path::new("/usr/lib/apache2/modules/mod_auth_gssapi.so");
        if !module.exists() {
            let text = "mod_auth_gssapi is missing: install the package libapache2-mod-auth-gssapi";
            return Err(io::Error::new(io::ErrorKind::NotFound, text));
        }
        let directory = TempDir::new("negotiate")?;
        for place in ["each", "bound", "either", "open"] {
            directory.write(&format!("root/{place}/file"), "it is open\n")?;
            let echo = directory.write(&format!("root/{place}/echo"), ECHO)?;
            std::fs::set_permissions(echo, PermissionsExt::from_mode(0o755))?;
        }
        std::fs::create_dir_all(directory.path().join("tickets"))?;
        // Started as root, Apache becomes www-data, who writes here.
        for place in ["", "root", "tickets"] {
            std::fs::set_permissions(directory.path().join(place), PermissionsExt::from_mode(0o777))?;
        }
        directory.write("cert.pem", &leaf.cert_pem)?;
        directory.write("key.pem", &leaf.key_pem)?;
        let (port, tls_port) = (free_port()?, free_port()?);
        let file = directory.write("apache.conf", config(directory.path(), port, tls_port, realm))?;
        let mut command = Command::new(program);
        command.arg("-D").arg("FOREGROUND").arg("-f").arg(file);
        realm.environment(&mut command);
        let running = run(command, &directory.path().join("log"), &[port, tls_port])?;
        Ok(NegotiateServer { _running: running, _directory: directory, port, tls_port })
    }

    pub fn tls_url(&self, path: &str) -> String {
        format!("https://localhost:{}{path}", self.tls_port)
    }

    /// Returns a URL with the host name, because tickets are for the name.
    pub fn url(&self, path: &str) -> String {
        format!("http://localhost:{}{path}", self.port)
    }
}

fn config(directory: &std::path::Path, port: u16, tls_port: u16, realm: &Kerberos) -> String {
    let place = directory.display();
    let modules = [
        "mpm_event",
        "authn_core",
        "authz_core",
        "authz_user",
        "auth_gssapi",
        "cgid",
        "env",
        "headers",
        "mime",
        "ssl",
    ];
    let modules: String = modules
        .iter()
        .map(|module| format!("LoadModule {module}_module /usr/lib/apache2/modules/mod_{module}.so\n"))
        .collect();
    let keytab = realm.keytab();
    let wanted = |name: &str, more: &str| {
        format!(
            "<Location /{name}/>\nAuthType GSSAPI\nAuthName testkit\nGssapiCredStore keytab:{}\n{more}
GssapiDelegCcacheDir {place}/tickets\nRequire valid-user\n</Location>\n",
            keytab.display()
        )
    };
    format!(
        "ServerRoot {place}\nPidFile {place}/pid\nListen 127.0.0.1:{port}\nListen 127.0.0.1:{tls_port}\nServerName localhost\n{modules}
User www-data\nGroup www-data\nErrorLog {place}/error.log\nDocumentRoot {place}/root\nDefaultRuntimeDir {place}
ScriptSock {place}/cgid\nPassEnv KRB5_CONFIG\nPassEnv KRB5RCACHETYPE\nKeepAlive On\nMaxKeepAliveRequests 0\nTypesConfig /etc/mime.types
<Directory {place}/root>\nRequire all granted\nOptions +ExecCGI\n<Files echo>\nSetHandler cgi-script\n</Files>\n</Directory>
Header always set X-User \"expr=%{{REMOTE_USER}}\"\nHeader always set X-Tickets \"%{{KRB5CCNAME}}e\"
SSLSessionCache none\nSSLCertificateFile {place}/cert.pem\nSSLCertificateKeyFile {place}/key.pem
<VirtualHost 127.0.0.1:{tls_port}>\nSSLEngine on\n</VirtualHost>\n{}{}{}",
        wanted("each", "GssapiConnectionBound Off"),
        wanted("bound", "GssapiConnectionBound On"),
        wanted("either", "GssapiBasicAuth On"),
    )
}
