//! Servers with HTTP/2, over TLS and by prior knowledge: nginx, Apache httpd with mod_http2, nghttpd, nghttpx
//! and caddy. All serve the same files; all except nghttpd forward the rest to an embedded HTTP/1 server,
//! which records what arrived, and can restart gracefully. nghttpd echoes an upload.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};

use super::{Running, free_port, program, run, with_retries};
use crate::body::pattern;
use crate::certs::Leaf;
use crate::http::{HttpServer, Response};
use crate::temp::TempDir;

/// The server program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Http2Kind {
    Nginx,
    /// nginx whose connections serve a hundred requests each.
    NginxHundred,
    Apache,
    Nghttpd,
    /// nghttpd that logs each frame.
    NghttpdLogging,
    Nghttpx,
    Caddy,
    /// caddy with HTTP/3 in addition. Both serve TLS at 127.0.0.2 as well.
    CaddyQuic,
}

/// A server with `/bytes-N` files; nginx with early data and a directory `/put/` for uploads. Other paths are
/// forwarded unmodified to the [`HttpServer`].
pub struct Http2Server {
    // The order of the fields is the order of their end.
    running: Vec<Running>,
    pub origin: HttpServer,
    kind: Http2Kind,
    directory: TempDir,
    secure: u16,
    plain: u16,
    admin: u16,
}

/// The values for the configurations.
struct Scene<'a> {
    place: &'a Path,
    secure: u16,
    plain: u16,
    admin: u16,
    origin: u16,
    kind: Http2Kind,
}

impl Http2Server {
    pub fn start(kind: Http2Kind, leaf: &Leaf, sizes: &[usize]) -> io::Result<Http2Server> {
        with_retries(|| Http2Server::try_start(kind, leaf, sizes))
    }

    fn try_start(kind: Http2Kind, leaf: &Leaf, sizes: &[usize]) -> io::Result<Http2Server> {
        let directory = TempDir::new("http2")?;
        let files: Vec<(String, Vec<u8>)> =
            sizes.iter().map(|size| (format!("/bytes-{size}"), pattern(*size))).collect();
        for (path, bytes) in &files {
            directory.write(&format!("root{path}"), bytes)?;
        }
        directory.write("cert.pem", &leaf.cert_pem)?;
        directory.write("key.pem", &leaf.key_pem)?;
        let origin = HttpServer::with(move |request| {
            let file = files.iter().find(|(path, _)| path == request.path())?;
            Some(Response::ok(&*file.1))
        });
        let [secure, plain, admin] = [free_port()?, free_port()?, free_port()?];
        let scene = Scene { place: directory.path(), secure, plain, admin, origin: origin.port(), kind };
        let commands = match kind {
            Http2Kind::Nginx | Http2Kind::NginxHundred => vec![scene.nginx()?],
            Http2Kind::Apache => vec![scene.apache()?],
            Http2Kind::Nghttpd | Http2Kind::NghttpdLogging => {
                vec![scene.nghttpd(true)?, scene.nghttpd(false)?]
            }
            Http2Kind::Nghttpx => vec![scene.nghttpx()?],
            Http2Kind::Caddy | Http2Kind::CaddyQuic => vec![scene.caddy()?],
        };
        let ports: &[&[u16]] = if commands.len() == 2 { &[&[secure], &[plain]] } else { &[&[secure, plain]] };
        let started = commands.into_iter().zip(ports).enumerate();
        let started = started.map(|(index, (command, ports))| {
            run(command, &directory.path().join(format!("log{index}")), ports)
        });
        let running = started.collect::<io::Result<_>>()?;
        Ok(Http2Server { running, origin, kind, directory, secure, plain, admin })
    }

    /// Returns a URL over TLS, where ALPN negotiates HTTP/2.
    pub fn https(&self, path: &str) -> String {
        format!("https://localhost:{}{path}", self.secure)
    }

    /// An address where HTTP/2 is spoken in the clear, by prior knowledge.
    pub fn http(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.plain)
    }

    /// Restarts gracefully: existing requests are completed, new connections reach the new instance.
    pub fn restart(&self) -> io::Result<()> {
        match self.kind {
            Http2Kind::Nginx | Http2Kind::NginxHundred | Http2Kind::Nghttpx => self.signal(Signal::HUP),
            Http2Kind::Apache => self.signal(Signal::USR1),
            Http2Kind::Caddy | Http2Kind::CaddyQuic => self.load(),
            Http2Kind::Nghttpd | Http2Kind::NghttpdLogging => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Returns the server's log, for diagnosing a failure.
    pub fn log(&self) -> String {
        let read = |name| std::fs::read_to_string(self.directory.path().join(name)).unwrap_or_default();
        ["log0", "log1", "error.log"].map(read).concat()
    }

    fn signal(&self, signal: Signal) -> io::Result<()> {
        let pid = self.running.first().and_then(|running| Pid::from_raw(running.pid().cast_signed()));
        Ok(kill_process(pid.ok_or(io::ErrorKind::NotFound)?, signal)?)
    }

    /// Loads a configuration into caddy.
    fn load(&self) -> io::Result<()> {
        let file = std::fs::read_to_string(self.directory.path().join("Caddyfile"))?;
        let mut admin = TcpStream::connect(("127.0.0.1", self.admin))?;
        let head = format!(
            "POST /load HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: text/caddyfile\r\nConnection: close\r\n\
             Cache-Control: must-revalidate\r\nContent-Length: {}\r\n\r\n",
            self.admin,
            file.len()
        );
        admin.write_all((head + &file).as_bytes())?;
        let mut reply = String::new();
        admin.read_to_string(&mut reply)?;
        if reply.starts_with("HTTP/1.1 200") { Ok(()) } else { Err(io::Error::other(reply)) }
    }
}

/// nghttpx(1) in front of a server of the caller's, over TLS on one port and by prior knowledge on another.
pub struct Nghttpx {
    _running: Running,
    pub secure: u16,
    pub plain: u16,
}

impl Nghttpx {
    /// Starts it in front of the server with port `origin`; its files are written into `place`.
    pub fn start(place: &Path, leaf: &Leaf, origin: u16) -> io::Result<Nghttpx> {
        std::fs::write(place.join("cert.pem"), &leaf.cert_pem)?;
        std::fs::write(place.join("key.pem"), &leaf.key_pem)?;
        with_retries(|| {
            let (secure, plain) = (free_port()?, free_port()?);
            let command = nghttpx(place, secure, plain, origin)?;
            let running = run(command, &place.join("log"), &[secure, plain])?;
            Ok(Nghttpx { _running: running, secure, plain })
        })
    }

    /// Returns whether the program is on this machine.
    pub fn is_installed() -> bool {
        program("nghttpx", "nghttp2-proxy").is_ok()
    }
}

fn nghttpx(place: &Path, secure: u16, plain: u16, origin: u16) -> io::Result<Command> {
    let file = place.join("nghttpx.conf");
    let place = place.display();
    let text = format!(
        "frontend=127.0.0.1,{secure}\nfrontend=127.0.0.1,{plain};no-tls\nbackend=127.0.0.1,{origin}
private-key-file={place}/key.pem\ncertificate-file={place}/cert.pem\nworkers=1\nerrorlog-file={place}/error.log
pid-file={place}/pid\nno-ocsp=yes\nbackend-connections-per-host=200\n"
    );
    std::fs::write(&file, text)?;
    let mut command = Command::new(program("nghttpx", "nghttp2-proxy")?);
    command.arg("--conf").arg(file);
    Ok(command)
}

impl Scene<'_> {
    fn write(&self, name: &str, text: &str) -> io::Result<std::path::PathBuf> {
        let file = self.place.join(name);
        std::fs::write(&file, text)?;
        Ok(file)
    }

    fn nginx(&self) -> io::Result<Command> {
        let Scene { place, secure, plain, origin, kind, .. } = self;
        let place = place.display();
        let requests = if *kind == Http2Kind::NginxHundred { 100 } else { 100_000_000 };
        let text = format!(
            "daemon off; worker_processes 1; pid {place}/pid; error_log {place}/error.log;
events {{ worker_connections 4096; }}
http {{
  access_log off; sendfile on; keepalive_requests {requests}; keepalive_timeout 300s;
  client_max_body_size 0; default_type application/octet-stream; open_file_cache max=100;
  client_body_temp_path {place}/body; proxy_temp_path {place}/proxy; fastcgi_temp_path {place}/fastcgi;
  uwsgi_temp_path {place}/uwsgi; scgi_temp_path {place}/scgi;
  upstream origin {{ server 127.0.0.1:{origin}; keepalive 32; keepalive_requests 1000000; }}
  server {{
    listen 127.0.0.1:{plain} http2 backlog=4096; listen 127.0.0.1:{secure} ssl http2 backlog=4096;
    server_name localhost; root {place}/root;
    ssl_certificate {place}/cert.pem; ssl_certificate_key {place}/key.pem; ssl_early_data on;
    ssl_protocols TLSv1.2 TLSv1.3;
    location /bytes- {{ }}
    location /put/ {{ dav_methods PUT; alias {place}/put/; }}
    location / {{
      proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection \"\"; proxy_next_upstream off;
      proxy_set_header X-Version $server_protocol;
    }}
  }}
}}
"
        );
        let file = self.write("nginx.conf", &text)?;
        // Started as root, its workers run as another user, who writes there.
        std::fs::create_dir(self.place.join("put"))?;
        std::fs::set_permissions(self.place.join("put"), PermissionsExt::from_mode(0o777))?;
        let mut command = Command::new(program("nginx", "nginx-light")?);
        command.arg("-p").arg(self.place).arg("-c").arg(file).arg("-e").arg(self.place.join("error.log"));
        Ok(command)
    }

    fn apache(&self) -> io::Result<Command> {
        let Scene { place, secure, plain, origin, .. } = self;
        let place = place.display();
        let modules = ["mpm_event", "authz_core", "http2", "proxy", "proxy_http", "ssl"];
        let modules: String = modules
            .iter()
            .map(|module| format!("LoadModule {module}_module /usr/lib/apache2/modules/mod_{module}.so\n"))
            .collect();
        // No process is started or ended for idleness: Apache drops what such a process has just accepted
        // when it restarts.
        let text = format!(
            "ServerRoot {place}\nPidFile {place}/pid\nListen 127.0.0.1:{plain}\nListen 127.0.0.1:{secure}\n{modules}
ServerName localhost\nUser www-data\nGroup www-data\nErrorLog {place}/error.log\nDocumentRoot {place}/root
DefaultRuntimeDir {place}\nKeepAlive On\nMaxKeepAliveRequests 0\nProtocols h2 h2c http/1.1\nTimeout 60
StartServers 2\nServerLimit 16\nThreadsPerChild 64\nMaxRequestWorkers 1024\nMinSpareThreads 1\nMaxSpareThreads 1024\nGracefulShutdownTimeout 30
<Directory {place}/root>\nRequire all granted\n</Directory>
ProxyPassMatch ^/(bytes-.*)$ !\nProxyPass / http://127.0.0.1:{origin}/ enablereuse=off
<VirtualHost 127.0.0.1:{secure}>\nSSLEngine on\nSSLCertificateFile {place}/cert.pem
SSLCertificateKeyFile {place}/key.pem\n</VirtualHost>\n"
        );
        let file = self.write("apache.conf", &text)?;
        let mut command = Command::new(program("apache2", "apache2")?);
        command.arg("-D").arg("FOREGROUND").arg("-f").arg(file);
        Ok(command)
    }

    fn nghttpd(&self, secure: bool) -> io::Result<Command> {
        let mut command = Command::new(program("nghttpd", "nghttp2-server")?);
        command.args(["-a", "127.0.0.1", "--echo-upload", "-d"]).arg(self.place.join("root"));
        if self.kind == Http2Kind::NghttpdLogging {
            command.arg("-v");
        }
        match secure {
            true => command
                .arg(self.secure.to_string())
                .arg(self.place.join("key.pem"))
                .arg(self.place.join("cert.pem")),
            false => command.arg("--no-tls").arg(self.plain.to_string()),
        };
        Ok(command)
    }

    /// nghttpx serves no files: the embedded server does, under another kind of path.
    fn nghttpx(&self) -> io::Result<Command> {
        nghttpx(self.place, self.secure, self.plain, self.origin)
    }

    fn caddy(&self) -> io::Result<Command> {
        let Scene { place, secure, plain, admin, origin, kind } = self;
        let place = place.display();
        let quic = if *kind == Http2Kind::CaddyQuic { "h3" } else { "" };
        let text = format!(
            "{{
  admin 127.0.0.1:{admin}
  auto_https off
  default_sni localhost
  grace_period 30s
  log {{
    level ERROR
  }}
  servers {{
    protocols h1 h2 h2c {quic}
  }}
}}
(common) {{
  @files path /bytes-*
  handle @files {{
    root * {place}/root
    file_server
  }}
  handle {{
    reverse_proxy 127.0.0.1:{origin}
  }}
}}
http://127.0.0.1:{plain} {{
  bind 127.0.0.1
  import common
}}
https://localhost:{secure} {{
  bind 127.0.0.1 127.0.0.2
  tls {place}/cert.pem {place}/key.pem
  import common
}}
"
        );
        let file = self.write("Caddyfile", &text)?;
        let mut command = Command::new(program("caddy", "caddy")?);
        command.arg("run").arg("--adapter").arg("caddyfile").arg("--config").arg(file);
        command.env("HOME", self.place).env("XDG_DATA_HOME", self.place).env("XDG_CONFIG_HOME", self.place);
        Ok(command)
    }
}
