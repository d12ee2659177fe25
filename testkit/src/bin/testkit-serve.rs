//! Runs the servers of the tests until standard input ends, to try a client by hand.
//!
//! usage: `testkit-serve NAME`, with http, https, ftp [EPSV-REPLY], sftp, squid, nginx, apache, nghttpd,
//! nghttpx, caddy, protocols or uploads KIND [PIECE]. Prints the URL (for https also the path of the CA file,
//! for sftp the key and known_hosts, for squid its log). nginx to caddy speak HTTP/2; `protocols` prints a
//! transfer for each protocol. `uploads`, with vsftpd, proftpd, sftp, tus, ietf or s3, prints the folder of
//! the files, too, and cuts each connection after a piece of the file; for s3 also the words that sign.

use std::io::Read;

use warmwire_testkit::body::pattern;
use warmwire_testkit::certs::Authority;
use warmwire_testkit::cutter::{Cut, CutPoint, Cutter, Plan, Side};
use warmwire_testkit::ftp::{Faults, FtpServer};
use warmwire_testkit::http::HttpServer;
use warmwire_testkit::launch::{
    Ftpd, FtpdKind, Http2Kind, Http2Server, Protocols, S3_SIGNATURE, Squid, Sshd, Tusd, Versitygw,
};
use warmwire_testkit::temp::TempDir;

fn main() -> std::io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
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
        Some("sftp") => {
            let server = Sshd::start("")?;
            let (files, key) = (server.path("files"), server.path("user_ed25519"));
            std::fs::create_dir(&files)?;
            let url = server.url("sftp", &files.display().to_string());
            println!("{url} {} {}", key.display(), server.known_hosts()?.display());
            wait()?;
        }
        Some("squid") => {
            let server = Squid::start()?;
            println!("{} {}", server.url(), server.access_log().display());
            wait()?;
        }
        Some("uploads") => uploads(&words[1..])?,
        Some("protocols") => {
            let servers = Protocols::start()?;
            servers
                .transfers()
                .iter()
                .for_each(|transfer| println!("{} {}", transfer.name, transfer.words.join(" ")));
            wait()?;
        }
        Some(name @ ("nginx" | "apache" | "nghttpd" | "nghttpx" | "caddy")) => http2(name)?,
        _ => {
            let server = HttpServer::plain();
            println!("{}", server.url("/"));
            wait()?;
        }
    }
    Ok(())
}

/// Waits for the end of the standard input.
fn wait() -> std::io::Result<()> {
    std::io::stdin().read_to_end(&mut Vec::new()).map(drop)
}

/// Starts a server that takes uploads, behind a relay that cuts each connection after a piece.
fn uploads(words: &[String]) -> std::io::Result<()> {
    let kind = words.first().map_or("", String::as_str);
    let piece: Option<usize> = words.get(1).and_then(|piece| piece.parse().ok());
    let cut = |more| piece.map(|piece| CutPoint { side: Side::Client, after: piece + more, cut: Cut::Reset });
    let serve = |port: u16, url: &str, plan, rest: String| {
        let cutter = Cutter::open(([127, 0, 0, 1], port).into());
        cutter.set(plan);
        println!("{} {rest}", url.replace(&format!(":{port}/"), &format!(":{}/", cutter.port())));
        wait()
    };
    match kind {
        "vsftpd" | "proftpd" => {
            let kind = if kind == "vsftpd" { FtpdKind::Vsftpd } else { FtpdKind::Proftpd };
            let server = Ftpd::start(kind, &Authority::new().good(), &[])?;
            let plan = Plan { cut: None, data: Some(cut(0)) };
            serve(server.port, &server.url("/up/"), plan, server.place_of("/up").display().to_string())
        }
        "sftp" => {
            let server = Sshd::start("")?;
            let files = server.path("files");
            std::fs::create_dir(&files)?;
            let url = server.url("sftp", &format!("{}/", files.display()));
            // Keys and login come before the file.
            let plan = Plan { cut: cut(6000), data: None };
            let key = server.path("user_ed25519");
            serve(server.port, &url, plan, format!("{} {}", files.display(), key.display()))
        }
        "tus" | "ietf" => {
            let server = Tusd::start()?;
            let plan = Plan { cut: cut(400), data: None };
            serve(server.port, &server.url(), plan, server.folder().display().to_string())
        }
        "s3" => {
            let server = Versitygw::start()?;
            let plan = Plan { cut: cut(1000), data: None };
            let ((signature, login), folder) = (S3_SIGNATURE, server.folder());
            let rest = format!("{} --aws-sigv4 {signature} -u {login}", folder.display());
            serve(server.port, &server.url(), plan, rest)
        }
        _ => Err(std::io::Error::other(format!("no server of uploads is named {kind:?}"))),
    }
}

fn http2(name: &str) -> std::io::Result<()> {
    let kind = match name {
        "nginx" => Http2Kind::Nginx,
        "apache" => Http2Kind::Apache,
        "nghttpd" => Http2Kind::Nghttpd,
        "nghttpx" => Http2Kind::Nghttpx,
        _ => Http2Kind::Caddy,
    };
    let (authority, directory) = (Authority::new(), TempDir::new("serve")?);
    let ca = directory.write("ca.pem", authority.ca_pem())?;
    let server = Http2Server::start(kind, &authority.good(), &[1024, 335_114, 100_000_000])?;
    println!("{} {} --cacert {}", server.http("/bytes-1024"), server.https("/bytes-1024"), ca.display());
    wait()
}
