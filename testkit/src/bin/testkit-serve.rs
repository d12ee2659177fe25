//! Serves by hand what the tests serve, until standard input ends: for trying a client at a prompt.
//!
//! usage: `testkit-serve http|https|ftp [EPSV-REPLY]`; prints the URL (for https also where the CA file is).

use std::io::Read;

use warmwire_testkit::body::pattern;
use warmwire_testkit::certs::Authority;
use warmwire_testkit::ftp::{Faults, FtpServer};
use warmwire_testkit::http::HttpServer;
use warmwire_testkit::temp::TempDir;

fn main() -> std::io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let wait = || std::io::stdin().read_to_end(&mut Vec::new());
    match words.first().map(String::as_str) {
        Some("ftp") => {
            let faults = Faults { epsv_reply: words.get(1).cloned(), ..Faults::default() };
            let server = FtpServer::with_faults("/file", pattern(2000), faults);
            println!("{}", server.url("/file"));
            wait()?;
            println!("{:#?}", server.commands());
        }
        Some("https") => {
            let (authority, directory) = (Authority::new(), TempDir::new("serve")?);
            let ca = directory.write("ca.pem", authority.ca_pem())?;
            let server = HttpServer::tls(authority.good().server_config()?);
            println!("{} --cacert {}", server.url("/"), ca.display());
            wait()?;
        }
        _ => {
            let server = HttpServer::plain();
            println!("{}", server.url("/"));
            wait()?;
        }
    }
    Ok(())
}
