//! HTTPS records (RFC 9460): when they are queried, and their effect.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::{Ran, curl_in, ran, shell_with_mounts, tool, write};
use crate::empty_folder;
use testkit::certs::Authority;
use testkit::dns::{A, DnsAnswer, HTTPS, NameServer, ReceivedQuery, address, wire_name};
use testkit::launch::{Http2Kind, Http2Server, program};

const NAME: &str = "site.example";

/// Caddy, which speaks HTTP/3, too, and a name server that says this of it.
struct Site {
    server: Http2Server,
    dns: NameServer,
    folder: PathBuf,
}

impl Site {
    fn saying(says: impl Fn(&ReceivedQuery, u16) -> DnsAnswer + Send + Sync + 'static) -> Site {
        let authority = Authority::new();
        let leaf = authority.for_names(&[NAME, "localhost", "127.0.0.1"]);
        let server = Http2Server::start(Http2Kind::CaddyQuic, &leaf, &[10]).unwrap();
        let port = port_of(&server);
        let dns = NameServer::start(move |asked| says(asked, port));
        let folder = empty_folder();
        write(&folder, "ca.pem", authority.ca_pem());
        Site { server, dns, folder }
    }

    /// The host's address, and one record with these protocols.
    fn speaking(protocols: &'static [&'static str]) -> Site {
        Site::saying(move |asked, _| match asked.kind {
            A => address(A, "127.0.0.1"),
            HTTPS => DnsAnswer::Records(vec![("", HTTPS, service(".", &[alpn(protocols)]))]),
            _ => DnsAnswer::Records(Vec::new()),
        })
    }

    fn url(&self) -> String {
        format!("https://{NAME}:{}/bytes-10", port_of(&self.server))
    }

    fn ask(&self, words: &[&str]) -> Ran {
        let dns = self.dns.address().to_string();
        let common = ["-w", "%{http_version} %{response_code} %{num_connects}\\n", "--dns-servers", &dns];
        curl_in(self.folder.clone(), &[&["--cacert", "ca.pem", "-o", "out"], &common[..], words].concat())
    }

    /// Returns the HTTP version used.
    fn version(&self, words: &[&str]) -> String {
        let ran = self.ask(&[words, &[&self.url()]].concat());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ran.stdout.split(' ').next().unwrap_or_default().to_owned()
    }

    fn questions(&self) -> usize {
        self.dns.asked().iter().filter(|asked| asked.kind == HTTPS).count()
    }
}

fn port_of(server: &Http2Server) -> u16 {
    server.https("").rsplit(':').next().unwrap().parse().unwrap()
}

/// The data of a record in service mode, with parameters in ascending order.
pub(super) fn service(target: &str, parameters: &[(u16, Vec<u8>)]) -> Vec<u8> {
    let mut data = vec![0, 1];
    data.extend(if target == "." { vec![0] } else { wire_name(target) });
    for (key, value) in parameters {
        data.extend(key.to_be_bytes());
        data.extend((value.len() as u16).to_be_bytes());
        data.extend(value);
    }
    data
}

pub(super) fn alpn(protocols: &[&str]) -> (u16, Vec<u8>) {
    (1, protocols.iter().flat_map(|name| [&[name.len() as u8], name.as_bytes()].concat()).collect())
}

pub(super) fn alias(target: &str) -> DnsAnswer {
    DnsAnswer::Records(vec![("", HTTPS, [&[0, 0][..], &wire_name(target)].concat())])
}

/// HTTP/3 is used if it is allowed and the record lists it first; the open connection serves the next
/// transfer without a query.
// covers: --http3, --http2, --http1.1
#[test]
fn http3_where_a_record_names_it() {
    let site = Site::speaking(&["h3", "h2"]);
    let url = site.url();
    let ran = site.ask(&[&url, "-o", "two", &url]);
    // A busy machine may let TCP join the race.
    let one_or_two = |text: &str| text.replacen("3 200 2", "3 200 1", 1);
    assert_eq!(one_or_two(&ran.stdout), "3 200 1\n3 200 0\n", "{}", ran.stderr);
    assert_eq!(site.questions(), 1, "a kept connection needs no names");
    assert!(site.dns.asked().iter().any(|asked| asked.name.to_ascii_lowercase().starts_with("_")));
    assert_eq!((site.version(&["--http2"]), site.version(&["--http1.1"])), ("2".into(), "1.1".into()));
    assert_eq!((site.version(&["--http3"]), site.version(&["--http3-only"])), ("3".into(), "3".into()));
    // A connection opened because of a record is not used by a transfer that disallows it.
    let ca = ["--cacert", "ca.pem", "-w", "%{http_version} %{num_connects}\\n"];
    let dns = site.dns.address().to_string();
    let next = [&["--next", "-sS", "--http2", "--dns-servers", &dns, "-o", "two", &url], &ca[..]].concat();
    let ran = site.ask(&[&[&*url], &next[..]].concat());
    assert_eq!(one_or_two(&ran.stdout), "3 200 1\n2 1\n", "{}", ran.stderr);
}

#[test]
fn the_order_of_a_record_counts() {
    let site = Site::speaking(&["h2", "h3"]);
    assert_eq!((site.version(&[]), site.version(&["--http3"])), ("2".into(), "2".into()));
    let site = Site::speaking(&["h2"]);
    assert_eq!((site.version(&[]), site.version(&["--http3"])), ("2".into(), "2".into()));
    assert_eq!(site.version(&["--http3-only"]), "3", "who wants nothing else");
    // Where no service is spoken as it is to be, the host itself serves.
    let site = Site::saying(|asked, _| match asked.kind {
        A => address(A, "127.0.0.1"),
        HTTPS => DnsAnswer::Records(vec![("", HTTPS, service(".", &[alpn(&["xyz"]), (2, Vec::new())]))]),
        _ => DnsAnswer::Records(Vec::new()),
    });
    assert_eq!(site.version(&[]), "2");
}

/// The origin's own announcement has precedence over the name server's.
// covers: --alt-svc
#[test]
fn alt_svc_goes_before_a_record() {
    let site = Site::speaking(&["h2"]);
    let port = port_of(&site.server);
    let line = |to: &str| format!("h2 {NAME} {port} {to} \"20991231 00:00:00\" 0 0\n");
    write(&site.folder, "named", &line(&format!("h3 {NAME} {port}")));
    assert_eq!(site.version(&["--alt-svc", "named"]), "3");
    let before = site.questions();
    write(&site.folder, "elsewhere", &line(&format!("h2 localhost {port}")));
    assert_eq!(site.version(&["--alt-svc", "elsewhere"]), "2");
    assert_eq!(site.questions(), before, "an alternative's place is settled");
}

/// A port, an address hint, another name with its own addresses, and an alias with and without records.
#[test]
fn records_lead_elsewhere() {
    type Answers = fn(&ReceivedQuery, u16) -> DnsAnswer;
    let rows: [(&str, Answers); 5] = [
        ("port", |asked, port| match asked.kind {
            A => address(A, "127.0.0.1"),
            HTTPS => DnsAnswer::Records(vec![(
                "",
                HTTPS,
                service(".", &[alpn(&["h2"]), (3, port.to_be_bytes().to_vec())]),
            )]),
            _ => DnsAnswer::Records(Vec::new()),
        }),
        ("hint", |asked, port| match asked.kind {
            HTTPS => DnsAnswer::Records(vec![(
                "",
                HTTPS,
                service(
                    "cdn.example",
                    &[alpn(&["h2"]), (3, port.to_be_bytes().to_vec()), (4, vec![127, 0, 0, 1])],
                ),
            )]),
            A => address(A, "127.0.0.1"),
            _ => DnsAnswer::Records(Vec::new()),
        }),
        ("target", |asked, port| match (asked.kind, asked.name.to_ascii_lowercase().as_str()) {
            (HTTPS, _) => DnsAnswer::Records(vec![(
                "",
                HTTPS,
                service("cdn.example", &[alpn(&["h2"]), (3, port.to_be_bytes().to_vec())]),
            )]),
            (A, "cdn.example") => address(A, "127.0.0.1"),
            _ => DnsAnswer::Records(Vec::new()),
        }),
        ("alias", |asked, port| match (asked.kind, asked.name.to_ascii_lowercase().as_str()) {
            (HTTPS, "cdn.example") => DnsAnswer::Records(vec![(
                "",
                HTTPS,
                service(".", &[alpn(&["h3"]), (3, port.to_be_bytes().to_vec())]),
            )]),
            (HTTPS, _) => alias("cdn.example"),
            (A, "cdn.example") => address(A, "127.0.0.1"),
            _ => DnsAnswer::Records(Vec::new()),
        }),
        ("alias alone", |asked, _| match (asked.kind, asked.name.to_ascii_lowercase().as_str()) {
            (HTTPS, "cdn.example") => DnsAnswer::Records(Vec::new()),
            (HTTPS, _) => alias("cdn.example"),
            (A, "cdn.example") => address(A, "127.0.0.1"),
            _ => DnsAnswer::Records(Vec::new()),
        }),
    ];
    for (what, says) in rows {
        let site = Site::saying(says);
        let port = if what == "alias alone" { port_of(&site.server) } else { 1 };
        let ran = site.ask(&[&format!("https://{NAME}:{port}/bytes-10")]);
        let version = if what == "alias" { 3 } else { 2 };
        assert_eq!(ran.stdout, format!("{version} 200 1\n"), "{what}: {}", ran.stderr);
    }
}

/// No record is queried for a name that DNS does not know, that the user has redirected, or without TLS.
#[test]
fn pinned_unknown_and_plain_hosts_get_no_query_for_a_record() {
    let site = Site::speaking(&["h3"]);
    let port = port_of(&site.server);
    let (pin, there) = (format!("{NAME}:{port}:127.0.0.1"), format!("::localhost:{port}"));
    let at = |host: &str| format!("https://{host}:{port}/bytes-10");
    for words in [
        &[&*at("127.0.0.1")][..],
        &[&at("localhost")],
        &[&at(NAME), "--resolve", &pin],
        &[&at(NAME), "--connect-to", &there],
    ] {
        let ran = site.ask(words);
        assert_eq!((ran.code, site.questions()), (0, 0), "{words:?}: {}", ran.stderr);
    }
    for host in ["printer.local", "single"] {
        site.ask(&["-k", &at(host)]);
        assert_eq!(site.questions(), 0, "{host}");
    }
    site.ask(&["--max-time", "20", &format!("http://{NAME}:{port}/")]);
    assert_eq!(site.questions(), 0, "nothing is protected");
}

/// A record that does not come costs the resolution delay, and who insists waits for it.
// covers: --ech
#[test]
fn a_record_that_does_not_come() {
    let site = Site::saying(|asked, _| match asked.kind {
        A => address(A, "127.0.0.1"),
        HTTPS => DnsAnswer::Silence,
        _ => DnsAnswer::Records(Vec::new()),
    });
    let start = Instant::now();
    assert_eq!(site.version(&[]), "2");
    assert_eq!(site.questions(), 1);
    let quick = start.elapsed();
    assert!(quick < Duration::from_secs(5), "a server is asked twice for 5 s: {quick:?}");
    let ran = site.ask(&["--ech", "hard", "--connect-timeout", "2", &site.url()]);
    assert_eq!(ran.code, 28, "{}", ran.stderr);
    // If there is no address, that is reported at once, too.
    let nobody =
        Site::saying(|asked, _| if asked.kind == HTTPS { DnsAnswer::Silence } else { DnsAnswer::Code(3) });
    let start = Instant::now();
    assert_eq!(nobody.ask(&[&nobody.url()]).code, 6);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

/// The system's name servers are queried for records when getaddrinfo resolves addresses.
#[test]
fn the_systems_name_servers() {
    let folder = empty_folder();
    write(&folder, "resolv.conf", "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n");
    let strace = program("strace", "strace").unwrap();
    let strace = strace.display();
    let asked = |url: &str| {
        let script = format!(
            "mount --bind resolv.conf /etc/resolv.conf && {strace} -f -xx -s 200 -o calls -e trace=network {} -sS {url}",
            tool()
        );
        let ran = ran(&mut shell_with_mounts(&script), folder.clone());
        assert_eq!(ran.code, 6, "{}", ran.stderr);
        // The end of the question: the root, the type, the class.
        ran.file("calls").contains(r"\x00\x00\x41\x00\x01")
    };
    assert!(asked("https://no-such-name.example/") && !asked("http://no-such-name.example/"));
}
