//! Apache httpd with mod_auth_gssapi in a Kerberos realm: places that want Negotiate, each in its own way. Every reply
//! tells in `X-User` who is there, and in `X-Tickets` where a ticket that came along was put.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::{Kerberos, Running, free_port, program, run, with_retries};
use crate::temp::TempDir;

/// `/each/` wants a context for every request, `/bound/` for every connection, `/either/` takes Basic with the user's
/// password as well, `/open/` wants nothing; each has the file `file` and a program `echo` that sends back its input.
pub struct NegotiateServer {
    _running: Running,
    _directory: TempDir,
    pub port: u16,
}

const ECHO: &str = "#!/bin/sh\nprintf 'Content-Type: text/plain\\r\\n\\r\\n'\nexec cat\n";

impl NegotiateServer {
    pub fn start(realm: &Kerberos) -> io::Result<NegotiateServer> {
        with_retries(|| NegotiateServer::try_start(realm))
    }

    fn try_start(realm: &Kerberos) -> io::Result<NegotiateServer> {
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
        let port = free_port()?;
        let file = directory.write("apache.conf", config(directory.path(), port, realm))?;
        let mut command = Command::new(program);
        command.arg("-D").arg("FOREGROUND").arg("-f").arg(file);
        realm.environment(&mut command);
        let running = run(command, &directory.path().join("log"), &[port])?;
        Ok(NegotiateServer { _running: running, _directory: directory, port })
    }

    /// Tickets are for the name, so that the URL has it.
    pub fn url(&self, path: &str) -> String {
        format!("http://localhost:{}{path}", self.port)
    }
}

fn config(directory: &std::path::Path, port: u16, realm: &Kerberos) -> String {
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
        "ServerRoot {place}\nPidFile {place}/pid\nListen 127.0.0.1:{port}\nServerName localhost\n{modules}
User www-data\nGroup www-data\nErrorLog {place}/error.log\nDocumentRoot {place}/root\nDefaultRuntimeDir {place}
ScriptSock {place}/cgid\nPassEnv KRB5_CONFIG\nPassEnv KRB5RCACHETYPE\nKeepAlive On\nMaxKeepAliveRequests 0\nTypesConfig /etc/mime.types
<Directory {place}/root>\nRequire all granted\nOptions +ExecCGI\n<Files echo>\nSetHandler cgi-script\n</Files>\n</Directory>
Header always set X-User \"expr=%{{REMOTE_USER}}\"\nHeader always set X-Tickets \"%{{KRB5CCNAME}}e\"\n{}{}{}",
        wanted("each", "GssapiConnectionBound Off"),
        wanted("bound", "GssapiConnectionBound On"),
        wanted("either", "GssapiBasicAuth On"),
    )
}
