//! `--cache` and files that decide who the peer is or who asks: each parts kept replies by place and content.

use super::{clean, folder_with, shell_with_mounts};
use crate::{empty_folder, tool};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use testkit::certs::{Authority, Leaf};
use testkit::http::{Config, HttpServer, Response};
use testkit::needs;

/// The system's bundle on Debian.
const BUNDLE: &str = "/etc/ssl/certs/ca-certificates.crt";

fn fresh(body: &str) -> Response {
    Response::ok(body).with("Cache-Control", "max-age=1000")
}

/// How a command line gets a file on which its reply depends.
enum CaSource {
    /// By a flag, with its value.
    Flag(&'static str, &'static str),
    /// By a variable of the environment.
    Variable(&'static str, &'static str),
    /// As the system's bundle, which the file replaces in a mount name space of its own.
    SystemBundle,
}

/// A file on which a reply depends: the content with which the peer is accepted, another content, and the
/// exit code that this one leads to.
struct Part {
    given: CaSource,
    good: String,
    other: String,
    code: i32,
}

/// Two folders of the same names, and what their command lines have in common.
struct Parted<'a> {
    part: &'a Part,
    folders: [PathBuf; 2],
    cache: &'a Path,
    words: &'a [&'a str],
}

impl<'a> Parted<'a> {
    fn new(part: &'a Part, cache: &'a Path, words: &'a [&'a str]) -> Parted<'a> {
        let folders = [&part.good, &part.other].map(|content| {
            let folder = folder_with("f.pem", content);
            fs::create_dir(folder.join("d")).unwrap();
            fs::write(folder.join("d/f.pem"), content).unwrap();
            folder
        });
        Parted { part, folders, cache, words }
    }

    /// The exit code, the body and what the cache had to do with it.
    fn get(&self, folder: &Path) -> (i32, String) {
        let mut command = match self.part.given {
            CaSource::SystemBundle => {
                let mut command = shell_with_mounts(&format!("mount --bind f.pem {BUNDLE} && exec \"$@\""));
                command.args(["sh", tool()]);
                command
            }
            CaSource::Flag(..) | CaSource::Variable(..) => Command::new(tool()),
        };
        clean(&mut command).current_dir(folder).args(["-sS", "-w", "|%{cache}", "--cache"]).arg(self.cache);
        let _ = match self.part.given {
            CaSource::Flag(name, value) => command.args([name, value]),
            CaSource::Variable(name, value) => command.env(name, value),
            CaSource::SystemBundle => &mut command,
        };
        let out = needs::output(command.args(self.words));
        (out.status.code().unwrap(), String::from_utf8_lossy(&out.stdout).into_owned())
    }

    /// Puts the other content in the place of the first folder's.
    fn replace(&self) {
        for name in ["f.pem", "d/f.pem"] {
            fs::write(self.folders[0].join("new"), &self.part.other).unwrap();
            fs::rename(self.folders[0].join("new"), self.folders[0].join(name)).unwrap();
        }
    }

    /// A kept reply is served to the content and place with which it was fetched, and to no other.
    fn check(&self, what: &str) {
        let code = self.part.code;
        let had = |outcome: &str| (0, format!("body|{outcome}"));
        let refused = if code == 0 { had("miss") } else { (code, "|miss".to_owned()) };
        let [first, second] = &self.folders;
        assert_eq!((self.get(first), self.get(first)), (had("miss"), had("hit")), "{what}");
        assert_eq!(self.get(second), refused, "{what}: another folder");
        assert_eq!(self.get(first), had("hit"), "{what}");
        self.replace();
        assert_eq!(self.get(first), refused, "{what}: replaced");
    }
}

fn behind_tls(leaf: &Leaf) -> HttpServer {
    let config = Config {
        tls: Some(leaf.server_config().unwrap()),
        handler: Some(Arc::new(|_| Some(fresh("body")))),
        ..Default::default()
    };
    HttpServer::start(config).unwrap()
}

/// One relative name in two directories is two files, and a replaced file is another login or another check:
/// a reply stored under one is not served under the other, which refuses the server or gets its own reply.
#[test]
fn files_tell_replies_apart_by_place_and_content() {
    use CaSource::{Flag, Variable};
    let (authority, stranger) = (Authority::new(), Authority::new());
    let leaf = authority.good();
    let server = behind_tls(&leaf);
    let (cache, url) = (empty_folder().join("c"), server.url("/"));
    let trusted = folder_with("ca.pem", authority.ca_pem()).join("ca.pem").display().to_string();
    let client = |authority: &Authority| {
        let leaf = authority.client("me");
        leaf.cert_pem + &leaf.key_pem
    };
    let (ca, other_ca) = (authority.ca_pem().to_owned(), stranger.ca_pem().to_owned());
    let anchors = |given| Part { given, good: ca.clone(), other: other_ca.clone(), code: 60 };
    let of_trust = [
        anchors(Flag("--cacert", "f.pem")),
        anchors(Flag("--capath", "d")),
        anchors(Variable("SSL_CERT_FILE", "f.pem")),
        anchors(Variable("SSL_CERT_DIR", "d")),
        anchors(Variable("CURL_CA_BUNDLE", "f.pem")),
    ];
    for (number, part) in of_trust.iter().enumerate() {
        Parted::new(part, &cache, &[&url]).check(&format!("anchors {number}"));
    }
    let pin = stranger.good().public_key_pem();
    let rows = [
        ("--cert", client(&authority), client(&stranger), 0),
        ("--crlfile", authority.empty_crl(), "no list".to_owned(), 82),
        ("--pinnedpubkey", leaf.public_key_pem(), pin, 90),
    ];
    for (name, good, other, code) in rows {
        let part = Part { given: Flag(name, "f.pem"), good, other, code };
        Parted::new(&part, &cache, &["--cacert", &trusted, &url]).check(name);
    }
}

/// A proxy is verified by files of its own: a reply that came by way of one proxy is not served where the
/// proxy would be refused.
#[test]
fn files_about_the_proxy_tell_replies_apart() {
    use CaSource::{Flag, Variable};
    let (authority, stranger) = (Authority::new(), Authority::new());
    let leaf = authority.good();
    let server = behind_tls(&leaf);
    let (cache, proxy) = (empty_folder().join("c"), server.url(""));
    let trusted = folder_with("ca.pem", authority.ca_pem()).join("ca.pem").display().to_string();
    let (ca, other_ca) = (authority.ca_pem().to_owned(), stranger.ca_pem().to_owned());
    let anchors = |given| Part { given, good: ca.clone(), other: other_ca.clone(), code: 60 };
    let words = ["-x", &proxy, "http://origin.example/"];
    let of_trust = [
        anchors(Flag("--proxy-cacert", "f.pem")),
        anchors(Flag("--proxy-capath", "d")),
        anchors(Variable("SSL_CERT_DIR", "d")),
    ];
    for (number, part) in of_trust.iter().enumerate() {
        Parted::new(part, &cache, &words).check(&format!("anchors {number}"));
    }
    let client = |authority: &Authority| {
        let leaf = authority.client("me");
        leaf.cert_pem + &leaf.key_pem
    };
    let rows = [
        ("--proxy-cert", client(&authority), client(&stranger), 0),
        ("--proxy-crlfile", authority.empty_crl(), "no list".to_owned(), 82),
        ("--proxy-pinnedpubkey", leaf.public_key_pem(), stranger.good().public_key_pem(), 90),
    ];
    for (name, good, other, code) in rows {
        let part = Part { given: Flag(name, "f.pem"), good, other, code };
        Parted::new(&part, &cache, &[&["--proxy-cacert", &trusted], &words[..]].concat()).check(name);
    }
}

/// The system's bundle verifies servers and proxies for which no other anchors are named.
#[test]
fn the_systems_bundle_tells_replies_apart() {
    if !Path::new(BUNDLE).is_file() {
        testkit::left_out(format!("{BUNDLE} is missing: install the package ca-certificates"));
    }
    let (authority, stranger) = (Authority::new(), Authority::new());
    let server = behind_tls(&authority.good());
    let (good, other) = (authority.ca_pem().to_owned(), stranger.ca_pem().to_owned());
    let part = Part { given: CaSource::SystemBundle, good, other, code: 60 };
    let (cache, url, proxy) = (empty_folder().join("c"), server.url("/"), server.url(""));
    Parted::new(&part, &cache, &[&url]).check("server");
    Parted::new(&part, &cache, &["-x", &proxy, "http://origin.example/"]).check("proxy");
}
