//! The servers for twin programs: created anew for each run, so that both libraries find the same. Each has
//! an environment variable with its URL; their files are in the program's directory.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Output;

use testkit::body::pattern;
use testkit::certs::{Authority, Leaf};
use testkit::ftp::{Config, Faults, FtpServer};
use testkit::http::HttpServer;

/// Certificates, which both runs share.
pub struct World {
    authority: Authority,
    other: Authority,
    client: Leaf,
}

/// Sets a server's faults.
type Spoil = fn(&mut Faults);

const FTP_SERVERS: [(&str, Spoil); 6] = [
    ("FTP", |_| {}),
    ("FTP_ACCOUNT", |faults| {
        faults.replies.extend([answer("PASS", "332 whose account"), answer("ACCT", "230 in")])
    }),
    ("FTP_STRANGE", |faults| faults.replies.extend([answer("USER", "530 no"), answer("LOGON", "230 in")])),
    ("FTP_ACTIVE", |faults| {
        let quiet = [answer("EPRT", "200 fine"), answer("PORT", "200 fine"), answer("RETR", "150 wait")];
        faults.replies.extend(quiet);
    }),
    ("FTP_SILENT", |faults| faults.silent_at = Some("SIZE".to_owned())),
    ("FTP_LIAR", |faults| faults.pasv_reply = Some("227 Entering Passive Mode (127,0,0,9,0,9)".to_owned())),
];

fn answer(command: &str, reply: &str) -> (String, String) {
    (command.to_owned(), reply.to_owned())
}

impl World {
    pub fn new() -> World {
        let authority = Authority::new();
        let client = authority.client("somebody");
        World { other: Authority::new(), authority, client }
    }

    /// Makes a program's folder, with the certificates.
    pub fn write_certificates(&self, folder: &Path) {
        std::fs::create_dir_all(folder).unwrap();
        for (name, text) in [
            ("ca.pem", self.authority.ca_pem()),
            ("other-ca.pem", self.other.ca_pem()),
            ("client.pem", &self.client.cert_pem),
            ("client.key", &self.client.key_pem),
        ] {
            std::fs::write(folder.join(name), text).unwrap();
        }
    }

    /// Runs a program with its own servers; also returns what they saw, as facts.
    pub fn run(&self, program: impl FnOnce(&[(&str, String)]) -> Output) -> (Output, String) {
        let good = self.authority.good();
        let demanding = || HttpServer::tls(self.authority.demanding(&good).unwrap());
        let tls = || HttpServer::tls(good.server_config().unwrap());
        let http = [
            ("SERVER", HttpServer::plain()),
            ("PROXY", HttpServer::plain()),
            ("TLS", tls()),
            ("TLS_PROXY", tls()),
            ("MUTUAL", demanding()),
            ("MUTUAL_PROXY", demanding()),
        ];
        let ftp = FTP_SERVERS.map(|(name, spoil)| (name, ftp_server(spoil)));
        let mut variables: Vec<_> = http.iter().map(|(name, server)| (*name, server.url(""))).collect();
        variables.extend(ftp.iter().map(|(name, server)| (*name, server.url(""))));
        let output = program(&variables);
        let mut seen = String::new();
        for (name, server) in &http {
            for (index, request) in server.requests().iter().enumerate() {
                let head = String::from_utf8_lossy(&request.head).trim_end().replace("\r\n", " | ");
                let body = String::from_utf8_lossy(&request.body[..request.body.len().min(200)]).into_owned();
                let _ = writeln!(seen, "{name} saw {index:03}: {head} || {}", body.escape_debug());
            }
        }
        for (name, server) in &ftp {
            // A QUIT races with the next connection's commands, and an ABOR with the end of the session that
            // its cut data connection causes.
            let commands = server.commands().into_iter().filter(|c| !matches!(&**c, "QUIT" | "ABOR"));
            for (index, command) in commands.enumerate() {
                let _ = writeln!(seen, "{name} saw {index:03}: {}", without_port(&command));
            }
        }
        for (name, url) in &variables {
            if let Some((_, port)) = url.rsplit_once(':') {
                seen = seen.replace(&format!(":{port}"), &format!(":{name}-port"));
            }
        }
        (output, seen)
    }
}

fn ftp_server(spoil: Spoil) -> FtpServer {
    let mut faults = Faults::default();
    spoil(&mut faults);
    let names = ["/dir/file", "/dir/other.txt", "/dir/deep/down", "/top"];
    let files = names.map(|name| (name.to_owned(), pattern(100 + name.len())));
    FtpServer::start(Config { files: BTreeMap::from(files), faults, ..Config::default() }).unwrap()
}

/// The port that a client listens on is chance.
fn without_port(command: &str) -> String {
    match command.split_once(' ') {
        Some(("EPRT", address)) => {
            let fields: Vec<&str> = address.split('|').take(3).collect();
            format!("EPRT {}", fields.join("|"))
        }
        Some(("PORT", address)) => {
            let fields: Vec<&str> = address.split(',').take(4).collect();
            format!("PORT {}", fields.join(","))
        }
        _ => command.to_owned(),
    }
}
