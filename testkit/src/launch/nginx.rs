//! nginx over HTTP and TLS, serving a directory.

use std::io;
use std::path::Path;
use std::process::Command;

use super::{Running, free_port, inside, listens_inside, program, run, run_until, with_retries};
use crate::body::pattern;
use crate::certs::Leaf;
use crate::temp::TempDir;

/// nginx with `/bytes-N` files of the given sizes, keep-alive without a limit of requests; `/taken` answers
/// any request with six bytes and a cookie.
pub struct Nginx {
    // The order of the fields is the order of their end.
    running: Running,
    directory: TempDir,
    pub http_port: u16,
    pub https_port: u16,
}

impl Nginx {
    pub fn start(leaf: &Leaf, sizes: &[usize]) -> io::Result<Nginx> {
        with_retries(|| Nginx::try_start(leaf, sizes, None))
    }

    /// Starts it with an OCSP answer that it staples to its certificate.
    pub fn stapling(leaf: &Leaf, answer: &[u8]) -> io::Result<Nginx> {
        with_retries(|| Nginx::try_start(leaf, &[], Some(answer)))
    }

    /// Starts it in a network namespace with its own address and ports. The methods that return URLs do not
    /// support this.
    pub fn start_in(namespace: &str, address: &str, ports: (u16, u16), leaf: &Leaf) -> io::Result<Nginx> {
        let (http_port, https_port) = ports;
        let directory = prepared(leaf, &[], None)?;
        directory.write("nginx.conf", config(directory.path(), address, ports, false))?;
        let command = started(inside(namespace, program("nginx", "nginx-light")?), &directory);
        let up = || listens_inside(namespace, address, http_port);
        let running = run_until(command, &directory.path().join("log"), up)?;
        Ok(Nginx { running, directory, http_port, https_port })
    }

    fn try_start(leaf: &Leaf, sizes: &[usize], answer: Option<&[u8]>) -> io::Result<Nginx> {
        let (http_port, https_port) = (free_port()?, free_port()?);
        let directory = prepared(leaf, sizes, answer)?;
        let config = config(directory.path(), "127.0.0.1", (http_port, https_port), answer.is_some());
        directory.write("nginx.conf", config)?;
        let command = started(Command::new(program("nginx", "nginx-light")?), &directory);
        let running = run(command, &directory.path().join("log"), &[http_port, https_port])?;
        Ok(Nginx { running, directory, http_port, https_port })
    }

    pub fn http(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.http_port)
    }

    pub fn https(&self, path: &str) -> String {
        format!("https://localhost:{}{path}", self.https_port)
    }

    /// A file that will be served.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> io::Result<()> {
        self.directory.write(&format!("root/{name}"), content).map(drop)
    }

    /// Adds a sparse file of zeros.
    pub fn sparse(&self, name: &str, size: u64) -> io::Result<()> {
        std::fs::File::create(self.directory.path().join("root").join(name))?.set_len(size)
    }

    pub fn pid(&self) -> u32 {
        self.running.pid()
    }
}

/// The folder with all that it reads but its configuration.
fn prepared(leaf: &Leaf, sizes: &[usize], answer: Option<&[u8]>) -> io::Result<TempDir> {
    let directory = TempDir::new("nginx")?;
    for size in sizes {
        directory.write(&format!("root/bytes-{size}"), pattern(*size))?;
    }
    directory.write("root/index.html", "<html>warmwire</html>\n")?;
    directory.write("cert.pem", &leaf.cert_pem)?;
    directory.write("key.pem", &leaf.key_pem)?;
    answer.map(|answer| directory.write("answer.der", answer)).transpose()?;
    Ok(directory)
}

fn started(mut command: Command, directory: &TempDir) -> Command {
    let place = directory.path();
    command.arg("-p").arg(place).arg("-c").arg(place.join("nginx.conf"));
    command.arg("-e").arg(place.join("error.log"));
    command
}

fn config(directory: &Path, address: &str, (http_port, https_port): (u16, u16), staples: bool) -> String {
    let place = directory.display();
    let stapled = match staples {
        true => format!("ssl_stapling on; ssl_stapling_file {place}/answer.der;"),
        false => String::new(),
    };
    format!(
        "daemon off; master_process off; worker_processes 1; pid {place}/pid;
events {{ worker_connections 8192; }}
http {{
  access_log off; sendfile on; tcp_nopush off; keepalive_requests 100000000; keepalive_timeout 300s;
  client_max_body_size 0; default_type application/octet-stream;
  client_body_temp_path {place}/body; proxy_temp_path {place}/proxy; fastcgi_temp_path {place}/fastcgi;
  uwsgi_temp_path {place}/uwsgi; scgi_temp_path {place}/scgi;
  open_file_cache max=100; ssl_session_cache shared:SSL:1m; ssl_session_tickets on;
  server {{
    listen {address}:{http_port} backlog=4096;
    listen {address}:{https_port} ssl backlog=4096;
    server_name localhost; root {place}/root;
    ssl_certificate {place}/cert.pem; ssl_certificate_key {place}/key.pem; {stapled}
    location /put/ {{ dav_methods PUT DELETE; create_full_put_path on; alias {place}/root/; }}
    location /fresh/ {{ open_file_cache off; }}
    location /site/ {{
      open_file_cache off;
      types {{ text/html html; text/css css; image/png png; text/plain txt; }}
    }}
    location = /moved {{ return 302 /index.html; }}
    location = /gone {{ return 410; }}
    location = /taken {{ add_header Set-Cookie \"visit=1; Path=/\"; return 200 \"taken\\n\"; }}
  }}
}}
"
    )
}
