//! git's own HTTP service: `git http-backend` as a FastCGI program behind nginx, plain and over TLS, where
//! HTTP/2 is spoken.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Running, free_port, program, run, with_retries};
use crate::certs::Leaf;
use crate::temp::TempDir;

/// Repositories below `root()`; those below `private/` require user "user" and password "secret".
pub struct GitServer {
    // The order of the fields is the order of their end.
    _nginx: Running,
    _backend: Running,
    directory: TempDir,
    http_port: u16,
    https_port: u16,
}

impl GitServer {
    pub fn start(leaf: &Leaf) -> io::Result<GitServer> {
        with_retries(|| GitServer::try_start(leaf))
    }

    fn try_start(leaf: &Leaf) -> io::Result<GitServer> {
        let (nginx, fcgiwrap) = (program("nginx", "nginx-light")?, program("fcgiwrap", "fcgiwrap")?);
        let directory = TempDir::new("git")?;
        directory.write("cert.pem", &leaf.cert_pem)?;
        directory.write("key.pem", &leaf.key_pem)?;
        directory.write("users", "user:{PLAIN}secret\n")?;
        for folder in ["root", "root/private"] {
            std::fs::create_dir(directory.path().join(folder))?;
        }
        let (backend_port, http_port, https_port) = (free_port()?, free_port()?, free_port()?);
        let mut command = Command::new(fcgiwrap);
        command.arg("-s").arg(format!("tcp:127.0.0.1:{backend_port}")).env("HOME", directory.path());
        let backend = run(command, &directory.path().join("backend.log"), &[backend_port])?;
        let text = config(directory.path(), backend_port, http_port, https_port)?;
        let file = directory.write("nginx.conf", text)?;
        let mut command = Command::new(nginx);
        command.arg("-p").arg(directory.path()).arg("-c").arg(file);
        command.arg("-e").arg(directory.path().join("error.log"));
        let nginx = run(command, &directory.path().join("log"), &[http_port, https_port])?;
        Ok(GitServer { _nginx: nginx, _backend: backend, directory, http_port, https_port })
    }

    /// Returns the folder of the repositories.
    pub fn root(&self) -> PathBuf {
        self.directory.path().join("root")
    }

    pub fn http(&self, repository: &str) -> String {
        format!("http://127.0.0.1:{}/{repository}", self.http_port)
    }

    pub fn https(&self, repository: &str) -> String {
        format!("https://localhost:{}/{repository}", self.https_port)
    }

    /// The plain address with credentials in it.
    pub fn http_as(&self, credentials: &str, repository: &str) -> String {
        format!("http://{credentials}@127.0.0.1:{}/{repository}", self.http_port)
    }

    /// Returns the logs of nginx and the service, for diagnosing a failure.
    pub fn log(&self) -> String {
        let read = |name: &str| std::fs::read_to_string(self.directory.path().join(name)).unwrap_or_default();
        read("error.log") + &read("backend.log")
    }
}

/// Returns the directory of git's programs.
fn backend() -> io::Result<PathBuf> {
    let output = Command::new(program("git", "git")?).arg("--exec-path").output()?;
    Ok(Path::new(String::from_utf8_lossy(&output.stdout).trim()).join("git-http-backend"))
}

fn config(directory: &Path, backend_port: u16, http_port: u16, https_port: u16) -> io::Result<String> {
    let (place, backend) = (directory.display(), backend()?);
    let params = [
        ("SCRIPT_FILENAME", backend.display().to_string()),
        ("GIT_PROJECT_ROOT", format!("{place}/root")),
        ("GIT_HTTP_EXPORT_ALL", "1".into()),
        ("PATH_INFO", "$uri".into()),
        ("REQUEST_METHOD", "$request_method".into()),
        ("QUERY_STRING", "$query_string".into()),
        ("CONTENT_TYPE", "$content_type".into()),
        ("CONTENT_LENGTH", "$content_length".into()),
        ("REMOTE_USER", "$remote_user".into()),
        ("REMOTE_ADDR", "$remote_addr".into()),
    ];
    let params: String =
        params.iter().map(|(name, value)| format!("    fastcgi_param {name} \"{value}\";\n")).collect();
    Ok(format!(
        "daemon off; master_process off; worker_processes 1; pid {place}/pid;
events {{ worker_connections 512; }}
http {{
  access_log off; keepalive_timeout 300s; client_max_body_size 0;
  client_body_temp_path {place}/body; proxy_temp_path {place}/proxy; fastcgi_temp_path {place}/fastcgi;
  uwsgi_temp_path {place}/uwsgi; scgi_temp_path {place}/scgi;
  server {{
    listen 127.0.0.1:{http_port}; listen 127.0.0.1:{https_port} ssl http2; server_name localhost;
    ssl_certificate {place}/cert.pem; ssl_certificate_key {place}/key.pem;
{params}    fastcgi_param HTTPS $https if_not_empty;
    location / {{ fastcgi_pass 127.0.0.1:{backend_port}; }}
    location /private/ {{
      auth_basic testkit; auth_basic_user_file {place}/users; fastcgi_pass 127.0.0.1:{backend_port};
    }}
  }}
}}
"
    ))
}
