//! `--cache`: what is stored, when it is used, and the effect of bad peers, bad files and bad moments.

use super::{Ran, clean, curl_in, folder_with};
use crate::{empty_folder, run, tool};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use testkit::body::pattern;
use testkit::certs::Authority;
use testkit::http::{After, Framing, HttpServer, Request, Response};
use testkit::launch::Nginx;

/// A directory for a cache, and for downloads.
pub struct Home(pub PathBuf);

impl Home {
    pub fn new() -> Home {
        Home(empty_folder())
    }

    pub fn ran(&self, words: &[&str]) -> Ran {
        curl_in(self.0.clone(), &[&["--cache", "c", "-w", "|%{http_code} %{cache}"], words].concat())
    }

    /// Returns the body, the status and the role of the cache.
    pub fn get(&self, words: &[&str]) -> String {
        let ran = self.ran(words);
        assert_eq!(ran.code, 0, "{words:?}: {}", ran.stderr);
        ran.stdout
    }

    /// All files of the cache by kind: heads, bodies and drafts.
    pub fn files(&self, ending: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.0.join("c")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.to_string_lossy().contains(ending) && !path.ends_with("warmwire-1/key") {
                    found.push(path);
                }
            }
        }
        found.sort();
        found
    }

    fn the_only(&self, ending: &str) -> PathBuf {
        let found = self.files(ending);
        assert_eq!(found.len(), 1, "{found:?}");
        found[0].clone()
    }
}

/// Answers with a number that grows, and with these fields.
fn counting(fields: &'static [(&'static str, &'static str)]) -> HttpServer {
    let count = AtomicUsize::new(0);
    HttpServer::with(move |_| {
        let number = count.fetch_add(1, Ordering::SeqCst) + 1;
        let answer = Response::ok(format!("body {number}"));
        Some(fields.iter().fold(answer, |answer, (name, value)| answer.with(name, *value)))
    })
}

pub fn scripted(answer: impl Fn(usize, &Request) -> Response + Send + Sync + 'static) -> HttpServer {
    let count = AtomicUsize::new(0);
    HttpServer::with(move |request| Some(answer(count.fetch_add(1, Ordering::SeqCst), request)))
}

pub fn fresh(body: impl Into<Vec<u8>>) -> Response {
    Response::ok(body).with("Cache-Control", "max-age=1000")
}

#[test]
fn a_fresh_reply_is_served_without_a_request() {
    let server = counting(&[("Cache-Control", "max-age=1000"), ("X-Own", "x"), ("Connection", "keep-alive")]);
    let (home, url) = (Home::new(), server.url("/f?q"));
    assert_eq!(home.get(&[&url]), "body 1|200 miss");
    assert_eq!(home.get(&[&url]), "body 1|200 hit");
    assert_eq!(home.get(&["-f", "--retry", "1", &format!("{url}#part")]), "body 1|200 hit");
    assert_eq!(home.get(&["-L", "-o", "f", &url]), "|200 hit");
    assert_eq!(home.get(&["-OJ", &server.url("/f?q")]), "|200 hit");
    for name in ["f", "f?q"] {
        if let Ok(text) = fs::read_to_string(home.0.join(name)) {
            assert_eq!(text, "body 1");
        }
    }
    let shown = home.get(&["-i", &url]);
    assert!(shown.starts_with("HTTP/1.1 200 OK\r\n") && shown.ends_with("\r\n\r\nbody 1|200 hit"), "{shown}");
    assert!(shown.contains("\r\nX-Own: x\r\n") && shown.contains("\r\nAge: "), "{shown}");
    assert!(!shown.contains("Connection"), "{shown}");
    // A GET's reply answers a HEAD.
    let head = home.get(&["-I", &url]);
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.ends_with("\r\n\r\n|200 hit"), "{head}");
    home.get(&["-D", "heads", "-o", "f", &url]);
    assert!(fs::read_to_string(home.0.join("heads")).unwrap().contains("X-Own: x"));
    assert_eq!(
        home.get(&["-w", "%{cache} %{size_download} %{num_connects} %header{x-own}", "-o", "f", &url]),
        "hit 6 0 x"
    );
    assert_eq!(server.served(), 1);
    // Without the flag nothing changes.
    let ran = curl_in(home.0.clone(), &["-w", "[%{cache}]%{json}", &url]);
    assert!(ran.stdout.starts_with("body 2[]") && !ran.stdout.contains("\"cache\""), "{}", ran.stdout);
    assert!(home.get(&["-w", "%{json}", &url]).contains("\"cache\":\"hit\""));
    assert_eq!(home.get(&[&server.url("/other")]), "body 3|200 miss");
}

#[test]
fn a_head_answers_no_get() {
    let server = counting(&[("Cache-Control", "max-age=1000")]);
    let (home, url) = (Home::new(), server.url("/"));
    assert!(home.get(&["-I", &url]).ends_with("|200 miss"));
    assert!(home.get(&["-I", &url]).ends_with("|200 hit"));
    assert_eq!(home.get(&[&url]), "body 2|200 miss");
    assert_eq!(home.get(&[&url]), "body 2|200 hit");
}

#[test]
fn a_stale_reply_is_revalidated() {
    let server = scripted(|number, request| match (number, request.field("If-None-Match")) {
        (0, None) => {
            Response::ok("old").with("ETag", "\"a\"").with("X-Own", "1").with("Cache-Control", "max-age=0")
        }
        (1 | 2, Some("\"a\"")) => {
            let answer =
                Response { status: 304, ..Response::default() }.with("ETag", "\"a\"").with("X-Own", "2");
            answer.with("Cache-Control", if number == 2 { "max-age=1000" } else { "max-age=0" })
        }
        (3, Some("\"a\"")) => fresh("new").with("ETag", "\"b\""),
        _ => Response::status(599),
    });
    let (home, url) = (Home::new(), server.url("/"));
    assert_eq!(home.get(&[&url]), "old|200 miss");
    let shown = home.get(&["-i", &url]);
    assert!(
        shown.starts_with("HTTP/1.1 200 OK\r\n") && shown.ends_with("\r\n\r\nold|200 revalidated"),
        "{shown}"
    );
    assert!(shown.contains("X-Own: 2") && !shown.contains("X-Own: 1") && !shown.contains("304"), "{shown}");
    assert_eq!(home.get(&["-o", "f", "-w", "%header{x-own} %{size_download}", &url]), "2 3");
    assert_eq!(fs::read_to_string(home.0.join("f")).unwrap(), "old");
    // The second 304 is valid from then on.
    assert_eq!(home.get(&[&url]), "old|200 hit");
    assert_eq!(home.get(&["-H", "Cache-Control: no-cache", &url]), "new|200 miss");
    assert_eq!(home.get(&[&url]), "new|200 hit");
    assert_eq!((server.served(), home.files(".body").len()), (4, 1));
}

/// The fields that a reply varies by may change with a new reply or with a 304.
#[test]
fn vary_may_change() {
    let server = scripted(|number, request| {
        let answer = match (number, request.field("If-None-Match")) {
            (0, _) => Response::ok("one").with("Vary", "Accept"),
            (1, Some(_)) => Response::ok("two").with("Vary", "User-Agent"),
            (2, Some(_)) => {
                Response { status: 304, ..Response::default() }.with("Vary", "Accept, User-Agent")
            }
            (_, None) => Response::ok("three"),
            _ => Response::status(599),
        };
        answer.with("ETag", format!("\"{number}\"")).with("Cache-Control", "no-cache")
    });
    let (home, url) = (Home::new(), server.url("/"));
    assert_eq!(home.get(&[&url]), "one|200 miss");
    assert_eq!(home.get(&[&url]), "two|200 miss");
    assert_eq!((home.files(".head").len(), home.files(".body").len()), (1, 1));
    // By its tag, the 304 is about another reply: the whole body is requested.
    assert_eq!(home.get(&[&url]), "three|200 miss");
    assert_eq!((server.served(), home.files(".head").len(), home.files(".body").len()), (4, 1, 1));
    let same = scripted(|_, request| match request.field("If-None-Match") {
        None => Response::ok("same").with("ETag", "\"a\""),
        Some(_) => Response { status: 304, ..Response::default() }.with("Vary", "Accept"),
    });
    let outcomes = [0; 3].map(|_| home.get(&[&same.url("/")]));
    assert_eq!(outcomes, ["same|200 miss", "same|200 revalidated", "same|200 miss"]);
}

#[test]
fn nginx_is_asked_by_its_etag() {
    let authority = Authority::new();
    let nginx = Nginx::start(&authority.good(), &[300_000]).unwrap();
    let home = Home(folder_with("ca.pem", authority.ca_pem()));
    for url in [nginx.http("/bytes-300000"), nginx.https("/bytes-300000")] {
        for outcome in ["miss", "revalidated", "revalidated"] {
            let output = home.get(&["--cacert", "ca.pem", "-H", "Cache-Control: max-age=0", "-o", "f", &url]);
            let output = output.replace(" hit", " revalidated");
            assert_eq!(output, format!("|200 {outcome}"), "{url}");
            assert!(fs::read(home.0.join("f")).unwrap() == pattern(300_000));
        }
    }
    nginx.write("changes", "one").unwrap();
    let no_cache = ["-H", "Cache-Control: no-cache", &nginx.http("/changes")];
    assert_eq!(home.get(&no_cache), "one|200 miss");
    assert_eq!(home.get(&no_cache), "one|200 revalidated");
}

#[test]
fn vary_and_credentials_select_the_reply() {
    let server = counting(&[
        ("Cache-Control", "private, max-age=1000"),
        ("Vary", "Accept-Language, X-Own, Authorization, Cookie"),
    ]);
    let home = Home::new();
    let (url, with_login) = (server.url("/"), server.url("/").replace("//", "//me:pw@"));
    let kinds: [&[&str]; 10] = [
        &[&url],
        &["-H", "Accept-Language: de", &url],
        &["-H", "Accept-Language: en", &url],
        &["-H", "X-Own: 1", "-H", "Accept-Language: en", &url],
        &["-u", "me:pw", &url],
        &["-u", "you:pw", &url],
        &["-H", "Authorization: Bearer x", &url],
        &["-b", "a=b", &url],
        &["-H", "Host: other", &url],
        &["--connect-to", "::127.0.0.1:", &url],
    ];
    for (number, words) in kinds.iter().enumerate() {
        assert_eq!(home.get(words), format!("body {}|200 miss", number + 1), "{words:?}");
    }
    for (number, words) in kinds.iter().enumerate() {
        assert_eq!(home.get(words), format!("body {}|200 hit", number + 1), "{words:?}");
    }
    assert_eq!(home.get(&[&with_login]), "body 11|200 miss");
    // Options that cannot affect the reply make no difference.
    assert_eq!(
        home.get(&["-A", "me", "-m", "50", "-H", "Accept: x/y", "-e", "http://r/", &url]),
        "body 1|200 hit"
    );
    for name in home.files("c/") {
        let text = String::from_utf8_lossy(&fs::read(&name).unwrap()).into_owned();
        // In hexadecimal digits: of a password, the schemes and a cookie.
        for secret in ["pw", "Bearer", "426561726572", "4261736963", "a=b", "613d62"] {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
    }
}

/// Fields that may be credentials count without a word of the server's, and so does a proxy that no flag
/// names.
#[test]
fn unknown_fields_and_the_environments_proxy_select_the_reply() {
    let server = counting(&[("Cache-Control", "max-age=1000")]);
    let (home, url) = (Home::new(), server.url("/"));
    let kinds: [&[&str]; 5] = [
        &[&url],
        &["-H", "X-Api-Key: a", &url],
        &["-H", "X-Api-Key: b", &url],
        &["-H", "PRIVATE-TOKEN: a", &url],
        &["-H", "Anything: a", &url],
    ];
    for outcome in ["miss", "hit"] {
        for (number, words) in kinds.iter().enumerate() {
            assert_eq!(home.get(words), format!("body {}|200 {outcome}", number + 1), "{words:?}");
        }
    }
    let proxy = HttpServer::with(|_| Some(fresh("the proxy's")));
    let by_proxy = |name: &str| {
        let words = ["-sS", "--cache", "c", &url];
        let mut command = Command::new(tool());
        clean(&mut command).env(name, proxy.url("")).args(words).current_dir(&home.0);
        String::from_utf8_lossy(&command.output().unwrap().stdout).into_owned()
    };
    assert_eq!(by_proxy("http_proxy"), "the proxy's");
    assert_eq!(by_proxy("all_proxy"), "the proxy's");
    assert_eq!(home.get(&[&url]), "body 1|200 hit");
    assert_eq!(server.served(), kinds.len());
}

/// A directory that was once accessible may contain entries of other users.
#[cfg_attr(not(root), ignore = "left out: it takes two users, and so root")]
#[test]
fn entries_of_another_user_are_not_served() {
    let server = counting(&[("Cache-Control", "max-age=1000")]);
    let (home, url) = (Home::new(), server.url("/"));
    for (number, ending) in [".head", ".body"].into_iter().enumerate() {
        assert_eq!(
            home.get(&[&url]),
            format!("body {}|200 {}", number + 1, if number == 0 { "miss" } else { "hit" })
        );
        std::os::unix::fs::chown(home.the_only(ending), Some(65534), None).unwrap();
        assert_eq!(home.get(&[&url]), format!("body {}|200 miss", number + 2));
    }
    std::os::unix::fs::chown(home.0.join("c/warmwire-1"), Some(65534), None).unwrap();
    let ran = home.ran(&[&url]);
    assert_eq!((ran.code, ran.stdout.as_str()), (23, ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("The cache c can't be used: It belongs to another user"), "{}", ran.stderr);
}

#[test]
fn replies_that_forbid_it_are_not_stored() {
    let home = Home::new();
    for fields in [
        &[("Cache-Control", "No-Store, max-age=60")][..],
        &[("Cache-Control", "max-age=60"), ("Vary", "*")],
        &[],
        &[("Expires", "0")],
    ] {
        let server = counting(fields);
        assert_eq!(home.get(&[&server.url("/")]), "body 1|200 miss");
        assert_eq!(home.get(&[&server.url("/")]), "body 2|200 miss");
    }
    let server = counting(&[("Cache-Control", "max-age=60")]);
    let no_store = ["-H", "Cache-Control: no-store", &server.url("/")];
    assert_eq!(home.get(&no_store), "body 1|200 bypass");
    assert_eq!(home.files(".head").len(), 0);
    let only = ["-H", "Cache-Control: only-if-cached", &server.url("/")];
    assert_eq!(home.get(&only), "|504 miss");
    assert_eq!(home.get(&[&server.url("/")]), "body 2|200 miss");
    assert_eq!(home.get(&only), "body 2|200 hit");
}

#[test]
fn a_stale_reply_stands_in_for_an_error_where_the_server_lets_it() {
    let error = Arc::new(AtomicUsize::new(200));
    let status = error.clone();
    let server = scripted(move |_, request| match status.load(Ordering::SeqCst) {
        200 => {
            let may = if request.path() == "/may" { "max-age=0, stale-if-error=1000" } else { "max-age=0" };
            Response::ok("good").with("ETag", "\"a\"").with("Cache-Control", may)
        }
        0 => Response::raw("", After::Finish),
        status => Response::status(status as u16),
    });
    let home = Home::new();
    let (may, may_not) = (server.url("/may"), server.url("/may-not"));
    assert_eq!(home.get(&[&may]) + &home.get(&[&may_not]), "good|200 missgood|200 miss");
    error.store(503, Ordering::SeqCst);
    let shown = home.get(&["-i", "-f", &may]);
    assert!(shown.starts_with("HTTP/1.1 200") && shown.ends_with("\r\n\r\ngood|200 stale"), "{shown}");
    assert_eq!(home.get(&[&may_not]), "503\n|503 miss");
    assert_eq!(home.get(&["-H", "Cache-Control: max-stale=900", &may_not]), "good|200 stale");
    error.store(404, Ordering::SeqCst);
    assert_eq!(home.get(&[&may]), "404\n|404 miss");
    error.store(200, Ordering::SeqCst);
    assert_eq!(home.get(&[&may]), "good|200 miss");
    error.store(0, Ordering::SeqCst);
    assert_eq!(home.get(&[&may]), "good|200 stale");
    assert_eq!(home.ran(&[&may_not]).code, 52);
    drop(server);
    assert_eq!(home.get(&[&may]), "good|200 stale");
    assert_eq!(home.ran(&[&may_not]).code, 7);
}

#[test]
fn each_redirect_has_an_entry_of_its_own() {
    let server = scripted(|_, request| match request.path() {
        "/a" => Response { status: 302, ..fresh("moved") }.with("Location", "/b").with("Set-Cookie", "k=v"),
        "/b" => Response { status: 301, ..Response::ok("moved for good") }
            .with("ETag", "\"b\"")
            .with("Cache-Control", "no-cache")
            .with("Location", "/c"),
        _ => fresh("here"),
    });
    let (home, url) = (Home::new(), server.url("/a"));
    let counts = ["-L", "-w", "|%{http_code} %{cache} %{num_redirects} %{url_effective}", &url];
    assert_eq!(home.get(&counts), format!("here|200 miss 2 {}", server.url("/c")));
    assert_eq!(server.served(), 3);
    // The middle one has to be revalidated, and the answer is not a 304.
    assert_eq!(home.get(&counts), format!("here|200 hit 2 {}", server.url("/c")));
    let asked: Vec<String> = server.requests().iter().map(|request| request.path().to_owned()).collect();
    assert_eq!(asked, ["/a", "/b", "/c", "/b"]);
    assert_eq!(server.last_request().unwrap().field("If-None-Match"), Some("\"b\""));
    // Its body was not stored, because it was never read.
    assert_eq!(home.get(&[&url]), "moved|302 miss");
    assert_eq!(
        home.get(&["-w", "|%{http_code} %{cache} %{redirect_url}", &url]),
        format!("moved|302 hit {}", server.url("/b"))
    );
    assert_eq!(home.get(&["-L", &url]), "here|200 hit");
    // Cookies are only stored when received.
    assert_eq!(home.get(&["-c", "jar", "-o", "f", &url]), "|302 hit");
    assert!(!fs::read_to_string(home.0.join("jar")).unwrap().contains("\tk\tv"));
    let ran = home.ran(&["-L", "--max-redirs", "0", &url]);
    assert_eq!(ran.code, 47, "{}", ran.stdout);
}

#[test]
fn unsafe_methods_invalidate_stored_replies() {
    let server = scripted(|number, request| match (request.method.as_str(), request.path()) {
        ("POST", "/fails") => Response::status(400),
        ("POST", "/tells") => {
            Response::status(201).with("Location", "/f").with("Content-Location", "http://other/g")
        }
        ("GET" | "HEAD", _) => fresh(format!("{number}")),
        _ => Response { status: 204, ..Response::default() },
    });
    let (home, url) = (Home::new(), server.url("/f"));
    for words in [&["-d", "x"][..], &["-X", "DELETE"], &["-T", "/dev/null"], &["-X", "UNHEARD-OF"]] {
        home.get(&[&url]);
        assert!(home.get(&[&url]).ends_with("|200 hit"));
        assert!(home.get(&[words, &[&url]].concat()).ends_with("|204 bypass"), "{words:?}");
        assert!(home.get(&[&url]).ends_with("|200 miss"), "{words:?}");
    }
    home.get(&["-d", "x", &server.url("/fails")]);
    home.get(&["-X", "OPTIONS", &url]);
    assert!(home.get(&[&url]).ends_with("|200 hit"));
    home.get(&["-d", "x", &server.url("/tells")]);
    assert!(home.get(&[&url]).ends_with("|200 miss"));
}

#[test]
fn requests_with_ranges_conditions_or_methods_bypass_the_cache() {
    let server = counting(&[("Cache-Control", "max-age=1000"), ("ETag", "\"a\"")]);
    let (home, url) = (Home::new(), server.url("/f"));
    fs::write(home.0.join("tag"), "\"x\"\n").unwrap();
    assert_eq!(home.get(&[&url]), "body 1|200 miss");
    for words in [
        &["-r", "1-2,4-5"][..],
        &["-r", "1-2", "-I"],
        &["-r", "1-2", "--compressed"],
        &["-H", "Range: bytes=1-2", "-H", "If-Range: \"a\""],
        &["-X", "GET"],
        &["-H", "If-None-Match: \"x\""],
        &["--etag-compare", "tag"],
        &["-z", "1 Jan 2000"],
        &["--request-target", "/other"],
        &["--raw"],
        &["--ignore-content-length", "-m", "5"],
        &["--netrc-optional"],
        &["--retry-resume"],
    ] {
        let served = server.served();
        let ran = home.ran(&[words, &[&url]].concat());
        assert!(ran.stdout.ends_with(" bypass") || ran.code == 28, "{words:?} {} {}", ran.stdout, ran.stderr);
        assert_eq!(server.served(), served + 1, "{words:?}");
        assert_eq!(home.get(&[&url]), "body 1|200 hit", "{words:?}");
    }
}

/// 304 without a condition, or about another reply; heads that are larger than others.
#[test]
fn odd_replies() {
    let home = Home::new();
    let never =
        scripted(|_, _| Response { status: 304, ..Response::default() }.with("Cache-Control", "max-age=60"));
    assert_eq!(home.get(&[&never.url("/")]), "|304 miss");
    assert_eq!(home.get(&[&never.url("/")]), "|304 miss");
    let other = scripted(|_, request| match request.field("If-None-Match") {
        None => Response::ok("all of it").with("ETag", "\"a\""),
        Some(_) => Response { status: 304, ..Response::default() }.with("ETag", "\"b\""),
    });
    assert_eq!(home.get(&[&other.url("/")]), "all of it|200 miss");
    assert_eq!(
        home.get(&["-w", "|%{http_code} %{cache} %{num_redirects}", "-i", &other.url("/")])
            .split("\r\n\r\n")
            .last(),
        Some("all of it|200 miss 0")
    );
    assert_eq!(other.served(), 3);
    let large = "x".repeat(99_000);
    let wide =
        scripted(move |_, _| fresh("wide").with("X-Large", large.as_str()).with("X-Larger", large.as_str()));
    assert_eq!(home.get(&[&wide.url("/")]), "wide|200 miss");
    assert_eq!(
        home.get(&["-o", "f", "-w", "%{size_header} %{cache}", &wide.url("/")]).split(' ').next_back(),
        Some("hit")
    );
    assert_eq!(home.get(&["-w", "%header{x-larger}", "-o", "f", &wide.url("/")]).len(), 99_000);
}

#[test]
fn incomplete_replies_are_not_stored() {
    let answers: [(i32, fn() -> Response); 6] = [
        (18, || Response { cut_at: Some(130), after: After::Cut, ..fresh("x".repeat(5000)) }),
        (18, || Response {
            cut_at: Some(130),
            framing: Framing::Chunked(50),
            after: After::Cut,
            ..fresh("x".repeat(5000))
        }),
        (56, || Response { cut_at: Some(130), after: After::Reset, ..fresh("x".repeat(5000)) }),
        (18, || {
            Response::raw(
                "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 9\r\n\r\nshort",
                After::Finish,
            )
        }),
        (8, || {
            Response::raw(
                "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: x\r\n\r\nshort",
                After::Finish,
            )
        }),
        // It may be complete, but that is unknown.
        (0, || Response { framing: Framing::Close, after: After::Finish, ..fresh("open end") }),
    ];
    for (number, (code, answer)) in answers.into_iter().enumerate() {
        let (home, server) = (Home::new(), scripted(move |_, _| answer()));
        for _ in 0..2 {
            let ran = home.ran(&[&server.url("/")]);
            assert!(
                ran.code == code || code == 56 && ran.code == 18,
                "{number}: {} {}",
                ran.code,
                ran.stderr
            );
            assert!(ran.stdout.ends_with(" miss"), "{number}: {}", ran.stdout);
        }
        assert_eq!(home.files("c/"), Vec::<PathBuf>::new(), "{number}");
    }
    // Longer than announced: the rest is not part of the reply.
    let server = scripted(|_, _| {
        Response::raw(
            "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 4\r\n\r\nfour and more",
            After::Finish,
        )
    });
    let home = Home::new();
    assert_eq!(home.get(&[&server.url("/")]), "four|200 miss");
    assert_eq!(home.get(&[&server.url("/")]), "four|200 hit");
    // A checksum that differs, and an error that --fail makes of a status.
    let server = counting(&[("Cache-Control", "max-age=1000")]);
    let home = Home::new();
    let sum = format!("md5={}", "0".repeat(32));
    assert_eq!(home.ran(&["--checksum", &sum, &server.url("/")]).code, 56);
    assert_eq!(home.get(&[&server.url("/")]), "body 2|200 miss");
    let gone = scripted(|_, _| Response { status: 404, ..fresh("gone") });
    assert_eq!(home.get(&[&gone.url("/")]) + &home.get(&[&gone.url("/")]), "gone|404 missgone|404 hit");
    let ran = home.ran(&["-f", &gone.url("/")]);
    assert_eq!((ran.code, ran.stdout.as_str(), gone.served()), (22, "|404 hit", 1));
}

#[test]
fn attempts_and_parallel_transfers() {
    let server = scripted(|number, _| if number == 0 { Response::status(503) } else { fresh("good") });
    let (home, url) = (Home::new(), server.url("/"));
    assert!(home.get(&["--retry", "2", "--retry-delay", "0.01", "-o", "f", &url]).ends_with("|200 miss"));
    assert_eq!(fs::read_to_string(home.0.join("f")).unwrap(), "good");
    assert_eq!(home.get(&["--retry", "2", &url]), "good|200 hit");
    let server = counting(&[("Cache-Control", "max-age=1000")]);
    let urls = [server.url("/[1-30]"), server.url("/[1-30]")];
    let words = ["-Z", "-o", "f#1", &urls[0], "-o", "g#1", &urls[1]];
    assert_eq!(home.get(&words).matches("|200 ").count(), 60);
    let served = server.served();
    assert_eq!(home.get(&words).matches("|200 hit").count(), 60);
    assert!(served >= 30 && server.served() == served);
    for number in 1..=30 {
        let [one, two] = ["f", "g"].map(|name| fs::read(home.0.join(format!("{name}{number}"))).unwrap());
        assert!(one == two && one.starts_with(b"body "));
    }
}

#[test]
fn a_decoded_body_is_stored_decoded() {
    let gzip =
        [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0x4b, 0x4c, 0x4a, 6, 0, 0xc2, 0x41, 0x24, 0x35, 3, 0, 0, 0];
    let server = scripted(move |_, request| match request.field("Accept-Encoding") {
        Some(_) => fresh(gzip).with("Content-Encoding", "gzip").with("Vary", "Accept-Encoding"),
        None => fresh("plain").with("Vary", "Accept-Encoding"),
    });
    let (home, url) = (Home::new(), server.url("/"));
    assert_eq!(home.get(&["--compressed", &url]) + &home.get(&[&url]), "abc|200 missplain|200 miss");
    assert_eq!(home.get(&["--compressed", &url]) + &home.get(&[&url]), "abc|200 hitplain|200 hit");
    // A request for gzip without decoding gets the bytes as received.
    let own = ["-H", "Accept-Encoding: gzip", "-o", "f", &url];
    assert_eq!(home.get(&own) + &home.get(&own), "|200 miss|200 hit");
    assert_eq!(fs::read(home.0.join("f")).unwrap(), gzip);
}

#[test]
fn reports_name_the_result_of_the_cache() {
    let server = scripted(|_, request| match (request.path(), request.field("If-None-Match")) {
        ("/r", _) => Response { status: 302, ..fresh("") }.with("Location", "/f?q"),
        (_, None) => Response::ok("body").with("ETag", "\"a\"").with("X-Own", "1"),
        _ => Response { status: 304, ..Response::default() },
    });
    let (home, url) = (Home::new(), server.url("/r"));
    let mut outcomes = Vec::new();
    for _ in 0..2 {
        let ran = home.ran(&["-L", "-v", "--har", "har", &url]);
        let archive = fs::read_to_string(home.0.join("har")).unwrap();
        let in_archive =
            archive.split("\"_cache\":\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned());
        outcomes.push(in_archive.collect::<Vec<_>>());
        assert!(archive.contains("/f?q") && archive.matches("\"status\":200").count() == 1, "{archive}");
        assert!(archive.contains("{\"name\":\"X-Own\",\"value\":\"1\"}"), "{archive}");
        assert!(ran.stderr.contains("* Cache: "), "{}", ran.stderr);
    }
    assert_eq!(outcomes, [["miss", "miss"], ["hit", "revalidated"]]);
}

#[test]
fn the_least_recently_used_entry_is_removed_first() {
    let server =
        scripted(|_, request| fresh(vec![b'x'; if request.path() == "/large" { 150_000 } else { 30_000 }]));
    let home = Home::new();
    let get = |path: &str| home.get(&["--cache-size", "100K", "-o", "f", &server.url(path)]);
    for path in ["/1", "/2", "/3"] {
        assert_eq!(get(path), "|200 miss");
    }
    assert_eq!(get("/1"), "|200 hit");
    assert_eq!(get("/4"), "|200 miss");
    let size: u64 = home.files("c/").iter().map(|file| file.metadata().unwrap().len()).sum();
    assert!(size <= 100 << 10, "{size}");
    assert_eq!([get("/1"), get("/4")], ["|200 hit", "|200 hit"]);
    assert_eq!(get("/2"), "|200 miss");
    // A reply larger than the whole cache is not stored, and evicts nothing.
    assert_eq!([get("/large"), get("/large"), get("/2")], ["|200 miss", "|200 miss", "|200 hit"]);
    let ran = home.ran(&["--cache-size", "5X", &server.url("/1")]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
}

#[test]
fn only_the_user_reads_it() {
    let server = counting(&[("Cache-Control", "max-age=1000")]);
    let home = Home::new();
    fs::create_dir(home.0.join("c")).unwrap();
    fs::set_permissions(home.0.join("c"), fs::Permissions::from_mode(0o755)).unwrap();
    home.get(&[&server.url("/")]);
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    for file in home.files("c/") {
        assert_eq!(mode(&file), 0o600, "{file:?}");
        assert_eq!(mode(file.parent().unwrap()), 0o700, "{file:?}");
    }
    assert_eq!(mode(&home.0.join("c/warmwire-1")), 0o700);
    assert_eq!(mode(&home.0.join("c/warmwire-1/key")), 0o600);
    // A directory that others could read is made private again; a file in its place is reported.
    fs::set_permissions(home.0.join("c/warmwire-1"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(home.get(&[&server.url("/")]), "body 1|200 hit");
    assert_eq!(mode(&home.0.join("c/warmwire-1")), 0o700);
    fs::write(home.0.join("file"), "x").unwrap();
    for (folder, why) in [("file", "File exists"), ("/proc/x", "No such file or directory")] {
        let ran = curl_in(home.0.clone(), &["--cache", folder, &server.url("/")]);
        assert_eq!((ran.code, ran.stdout.as_str()), (23, ""));
        let expected = format!("curl: (23) The cache {folder} can't be used: {why}");
        assert!(ran.stderr.starts_with(&expected), "{}", ran.stderr);
    }
    assert_eq!(server.served(), 1);
}

/// A full disk is one on which files grow no further.
#[test]
fn a_full_disk_costs_the_entry_alone() {
    let server = scripted(|_, _| fresh(pattern(300_000)));
    let home = Home::new();
    let line = format!(
        "trap '' XFSZ; ulimit -f 100; {} -S --no-progress-meter --cache c '{}' | md5sum",
        tool(),
        server.url("/")
    );
    let out = run("bash", &["-c", &line], &home.0);
    let plain = run("bash", &["-c", &format!("{} -sS '{}' | md5sum", tool(), server.url("/"))], &home.0);
    assert_eq!(out.stdout, plain.stdout);
    let stderr = String::from_utf8_lossy(&out.stderr).replace("\nWarning: ", " ");
    assert!(stderr.contains("The cache can't be written: File too large; continues without it"), "{stderr}");
    assert_eq!(home.files("c/"), Vec::<PathBuf>::new());
}

/// Whatever the file contains: it is not served, and removed.
#[test]
fn damaged_entries_are_misses() {
    let server = counting(&[("Cache-Control", "max-age=1000"), ("ETag", "\"a\"")]);
    let (home, url) = (Home::new(), server.url("/"));
    home.get(&[&url]);
    let (head, body) = (home.the_only(".head"), home.the_only(".body"));
    let (good_head, good_body) = (fs::read(&head).unwrap(), fs::read(&body).unwrap());
    let misses = |what: &str| {
        let output = home.get(&[&url]);
        assert!(output.starts_with("body ") && output.ends_with("|200 miss"), "{what}: {output}");
        assert_eq!((home.files(".head").len(), home.files(".body").len()), (1, 1), "{what}");
        for file in home.files("c/") {
            fs::remove_file(file).unwrap();
        }
    };
    let set = |head_bytes: &[u8], body_bytes: &[u8]| {
        fs::write(&head, head_bytes).unwrap();
        fs::write(&body, body_bytes).unwrap();
    };
    // A test beside the parser truncates heads everywhere; here as many as take some seconds.
    let step = good_head.len() / 40 + 1;
    for end in (0..good_head.len()).step_by(step).chain([good_head.len() - 1]) {
        set(&good_head[..end], &good_body);
        misses(&format!("head cut at {end}"));
    }
    for end in 0..good_body.len() {
        set(&good_head, &good_body[..end]);
        misses(&format!("body cut at {end}"));
    }
    set(&good_head, &[&good_body[..], b"x"].concat());
    misses("a longer body");
    set(&good_head, b"bodx 1");
    misses("a changed body");
    set(b"something else\n", &good_body);
    misses("a foreign head");
    fs::write(&head, &good_head).unwrap();
    misses("no body");
    set(&good_head, &good_body);
    fs::remove_file(&body).unwrap();
    assert!(run("mkfifo", &[body.to_str().unwrap()], &home.0).status.success());
    let output = home.get(&[&url]);
    assert!(output.ends_with("|200 miss"), "{output}");
    set(&good_head, &good_body);
    assert_eq!(home.get(&[&url]), "body 1|200 hit");
}

#[test]
fn many_processes_use_one_folder() {
    let server = scripted(|number, _| {
        let mut body = pattern(200_000);
        body.extend(format!("{number:04}").bytes());
        fresh(body).with("ETag", format!("\"{number}\"")).with("Cache-Control", "max-age=0")
    });
    let (home, url) = (Home::new(), server.url("/"));
    for _ in 0..5 {
        let start = |number: usize| {
            let mut command = Command::new(tool());
            clean(&mut command).current_dir(&home.0).stdin(Stdio::null()).stderr(Stdio::inherit());
            let sizes = ["250K", "900K"];
            command.args(["-sS", "--cache", "c", "--cache-size", sizes[number % 2], "-o"]);
            command
                .args([&format!("f{number}"), "-w", "%{cache}", &url])
                .stdout(Stdio::null())
                .spawn()
                .unwrap()
        };
        let children: Vec<_> = (0..8).map(start).collect();
        for (number, mut child) in children.into_iter().enumerate() {
            assert!(child.wait().unwrap().success());
            let body = fs::read(home.0.join(format!("f{number}"))).unwrap();
            assert!(body.len() == 200_004 && body.starts_with(&pattern(200_000)), "{}", body.len());
        }
    }
    home.get(&["-o", "f", &url]);
    assert_eq!(
        (home.files(".head").len(), home.files(".body").len(), home.files("drafts/").len()),
        (1, 1, 0)
    );
}

#[test]
fn killed_at_any_moment_it_leaves_nothing_wrong() {
    let server = scripted(|_, request| Response {
        drip: (request.path() == "/f").then_some((20_000, Duration::from_millis(1))),
        ..fresh(pattern(400_000))
    });
    let (home, url) = (Home::new(), server.url("/f"));
    let mut dice = testkit::dice::Dice::new(9111);
    let (mut kills, mut through) = (0, 0);
    while kills < 20 && through < 200 {
        let mut command = Command::new(tool());
        clean(&mut command).current_dir(&home.0).stdin(Stdio::null()).stderr(Stdio::null());
        command.args(["-s", "--cache", "c", "-H", "Cache-Control: no-cache", "-o", "killed", &url]);
        let mut child = command.spawn().unwrap();
        std::thread::sleep(Duration::from_millis(dice.roll(80) as u64));
        let _ = child.kill();
        if child.wait().unwrap().success() {
            through += 1
        } else {
            kills += 1
        };
        if kills % 5 == 0 {
            assert!(home.get(&["-o", "f", &url]).starts_with("|200 "));
            assert!(fs::read(home.0.join("f")).unwrap() == pattern(400_000));
        }
    }
    // The next process that stores something removes abandoned files.
    home.get(&["-o", "f", &url]);
    home.get(&["-o", "g", &server.url("/other")]);
    assert_eq!(
        (home.files(".head").len(), home.files(".body").len(), home.files("drafts/").len()),
        (2, 2, 0)
    );
}

/// A body is streamed into its entry, and out of it.
#[test]
fn large_bodies_are_not_held_in_memory() {
    let authority = Authority::new();
    let nginx = Nginx::start(&authority.good(), &[]).unwrap();
    nginx.sparse("large", 24_000_000).unwrap();
    let home = Home::new();
    let measured = "import resource, subprocess, sys\nsubprocess.run(sys.argv[1:], check=True)\n\
        print('', resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)";
    for outcome in ["miss", "stale"] {
        let words = ["-c", measured, tool(), "-sS", "--cache", "c", "-H", "Cache-Control: max-stale"];
        let about = ["-w", "%{cache} %{size_download}", "-o", "f", &nginx.http("/large")];
        let out = run("python3", &[&words[..], &about].concat(), &home.0);
        let output = String::from_utf8_lossy(&out.stdout);
        let peak_kib = output.strip_prefix(&format!("{outcome} 24000000 ")).expect("the format of -w").trim();
        assert!(peak_kib.parse::<u64>().unwrap() < 34_000, "{output}");
    }
}
