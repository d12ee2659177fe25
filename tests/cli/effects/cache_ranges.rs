//! `--cache` and what it serves besides whole replies to GET: ranges, errors that their server keeps, replies
//! to POST.

use super::cache::{Home, fresh, scripted};
use super::{curl_in, folder_with};
use std::any::Any;
use std::fs;
use testkit::body::pattern;
use testkit::certs::Authority;
use testkit::http::{After, HttpServer, Request, Response};
use testkit::launch::{Apache, Nginx};

/// Answers as a server of one file that has ranges, and counts.
fn with_ranges(body: &'static [u8], fields: &'static [(&'static str, &'static str)]) -> HttpServer {
    HttpServer::with(move |request| {
        let first_last = |text: &str| {
            let (first, last) = text.strip_prefix("bytes=")?.split_once('-')?;
            let end = body.len() - 1;
            match (first, last) {
                ("", count) => Some((body.len() - count.parse::<usize>().ok()?, end)),
                (first, "") => Some((first.parse().ok()?, end)),
                (first, last) => Some((first.parse().ok()?, last.parse::<usize>().ok()?.min(end))),
            }
        };
        let range = request.field("Range").and_then(first_last);
        let tag = fields.iter().find(|(name, _)| *name == "ETag").map(|(_, tag)| *tag);
        let answer = match range {
            _ if tag.is_some() && request.field("If-None-Match") == tag => {
                Response { status: 304, ..Response::default() }
            }
            None => Response::ok(body),
            Some((first, last)) if first <= last => {
                Response { status: 206, ..Response::ok(&body[first..=last]) }
                    .with("Content-Range", format!("bytes {first}-{last}/{}", body.len()))
            }
            Some(_) => Response::status(416),
        };
        Some(fields.iter().fold(answer, |answer, (name, value)| answer.with(name, *value)))
    })
}

#[test]
fn a_stored_file_answers_ranges() {
    let server = with_ranges(b"0123456789", &[("Cache-Control", "max-age=1000")]);
    let (home, url) = (Home::new(), server.url("/f"));
    assert_eq!(home.get(&[&url]), "0123456789|200 miss");
    for (range, part) in [("0-1", "01"), ("7-", "789"), ("-1", "9"), ("-99", "0123456789"), ("8-99", "89")] {
        assert_eq!(home.get(&["-r", range, &url]), format!("{part}|206 hit"), "{range}");
        let field = format!("Range: bytes={range}");
        assert_eq!(home.get(&["-H", &field, &url]), format!("{part}|206 hit"), "{range}");
    }
    let shown = home.get(&["-i", "-r", "2-4", &url]);
    assert!(shown.starts_with("HTTP/1.1 206 Partial Content\r\n") && shown.contains("\r\nAge: "), "{shown}");
    assert!(shown.contains("Content-Range: bytes 2-4/10\r\nContent-Length: 3\r\n"), "{shown}");
    let sizes = ["-w", "%{cache} %{size_download} %header{content-range}", "-o", "f", "-r", "2-4", &url];
    assert_eq!(home.get(&sizes), "hit 3 bytes 2-4/10");
    assert_eq!(server.served(), 1);
    // The server answers for a range that is not there, and its answer is not stored.
    let ran = home.ran(&["-f", "-r", "10-", &url]);
    assert!(ran.code == 22 && ran.stdout.ends_with("|416 miss"), "{} {}", ran.code, ran.stdout);
    assert_eq!(home.get(&[&url]), "0123456789|200 hit");
    assert_eq!(server.served(), 2);
}

#[test]
fn a_stored_part_answers_what_lies_in_it() {
    let server = with_ranges(b"0123456789", &[("Cache-Control", "max-age=1000")]);
    let (home, url) = (Home::new(), server.url("/f"));
    assert_eq!(home.get(&["-r", "-6", &url]), "456789|206 miss");
    for (range, part) in [("-6", "456789"), ("4-9", "456789"), ("6-7", "67"), ("8-", "89"), ("-1", "9")] {
        assert_eq!(home.get(&["-r", range, &url]), format!("{part}|206 hit"), "{range}");
    }
    assert_eq!(server.served(), 1);
    // Parts without a validator are neither joined nor taken for the whole.
    assert_eq!(home.get(&["-r", "0-4", &url]), "01234|206 miss");
    assert_eq!(home.get(&["-r", "3-5", &url]), "345|206 miss");
    assert_eq!(home.get(&["-r", "0-4", &url]), "01234|206 hit");
    assert_eq!(home.get(&["-H", "Cache-Control: only-if-cached", &url]), "|504 miss");
    assert_eq!(home.get(&[&url]), "0123456789|200 miss");
    assert_eq!(home.get(&[&url]), "0123456789|200 hit");
    assert_eq!(home.get(&["-r", "1-8", &url]), "12345678|206 hit");
    assert_eq!(server.served(), 4);
}

/// Answers ranges of a body that may change, and obeys If-Range.
fn changing(bodies: &'static [&'static str]) -> HttpServer {
    scripted(move |number, request| {
        let body = bodies[number.min(bodies.len() - 1)];
        let tag = format!("\"{body}\"");
        let holds = request.field("If-Range").is_none_or(|own| own == tag);
        let range = request.field("Range").filter(|_| holds).and_then(|range| {
            let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
            let last = last.parse().unwrap_or(usize::MAX).min(body.len() - 1);
            Some((first.parse::<usize>().ok()?, last))
        });
        let answer = match range {
            None => Response::ok(body),
            Some((first, last)) => Response { status: 206, ..Response::ok(&body[first..=last]) }
                .with("Content-Range", format!("bytes {first}-{last}/{}", body.len())),
        };
        answer.with("ETag", tag).with("Cache-Control", "max-age=1000")
    })
}

/// Returns Range and If-Range of each request.
fn asked(server: &HttpServer) -> Vec<String> {
    let text = |request: &Request| {
        ["Range", "If-Range"].map(|name| request.field(name).unwrap_or_default().to_owned()).join(" ")
    };
    server.requests().iter().map(text).collect()
}

#[test]
fn stored_parts_are_joined_and_only_their_gap_is_requested() {
    let server = changing(&["0123456789"]);
    let (home, url) = (Home::new(), server.url("/f"));
    assert_eq!(home.get(&["-r", "0-3", &url]), "0123|206 miss");
    assert_eq!(home.get(&["-r", "2-5", &url]), "2345|206 completed");
    assert_eq!(home.get(&["-r", "8-9", &url]), "89|206 miss");
    // The parts overlap, and a range lies in both.
    assert_eq!(home.get(&["-r", "1-5", &url]), "12345|206 hit");
    let shown = home.get(&["-i", "-r", "1-", &url]);
    assert!(shown.starts_with("HTTP/1.1 206 Partial Content\r\n"), "{shown}");
    assert!(shown.contains("Content-Range: bytes 1-9/10\r\nContent-Length: 9\r\n"), "{shown}");
    assert!(shown.ends_with("\r\n\r\n123456789|206 completed"), "{shown}");
    let fields = ["-w", "%{cache} %{size_download} %header{content-range} %header{etag}", "-o", "f"];
    assert_eq!(home.get(&[&fields[..], &["-r", "1-9", &url]].concat()), "hit 9 bytes 1-9/10 \"0123456789\"");
    // One request for the whole has the first byte from a part, and the rest from the others.
    let whole = home.get(&["-i", &url]);
    assert!(whole.starts_with("HTTP/1.1 200 OK\r\n") && !whole.contains("Content-Range"), "{whole}");
    assert!(
        whole.contains("Content-Length: 10\r\n") && whole.ends_with("\r\n\r\n0123456789|200 hit"),
        "{whole}"
    );
    let tag = "\"0123456789\"";
    let gap = |range: &str| format!("bytes={range} {tag}");
    assert_eq!(asked(&server), ["bytes=0-3 ", &gap("4-5"), "bytes=8-9 ", &gap("6-7")]);
}

#[test]
fn a_request_for_the_whole_fetches_what_a_part_lacks() {
    let server = changing(&["0123456789"]);
    let (home, url) = (Home::new(), server.url("/f"));
    assert_eq!(home.get(&["-H", "Range: bytes=3-5", &url]), "345|206 miss");
    // Only the beginning or the end of an answer saves something.
    assert_eq!(home.get(&["-r", "0-4", &url]), "01234|206 completed");
    assert_eq!(home.get(&["-H", "Cache-Control: only-if-cached", &url]), "|504 miss");
    let sizes = ["-w", "|%{cache} %{size_download} %{http_code} %header{content-range}", &url];
    assert_eq!(home.get(&sizes), "0123456789|completed 10 200 ");
    assert_eq!(home.get(&sizes), "0123456789|hit 10 200 ");
    // The parts that it is made of are gone.
    assert_eq!(home.files(".head").len(), 1);
    let tag = "\"0123456789\"";
    assert_eq!(asked(&server), ["bytes=3-5 ".into(), format!("bytes=0-2 {tag}"), format!("bytes=6-9 {tag}")]);
}

#[test]
fn parts_of_a_changed_file_are_not_joined() {
    let server = changing(&["0123456789", "abcdefghij"]);
    let (home, url) = (Home::new(), server.url("/f"));
    assert_eq!(home.get(&["-r", "0-3", &url]), "0123|206 miss");
    // The server sends all because of If-Range, which is not what was requested.
    assert_eq!(home.get(&["-r", "0-5", &url]), "abcdef|206 miss");
    assert_eq!(asked(&server)[1..], ["bytes=4-5 \"0123456789\"", "bytes=0-5 "]);
    let server = changing(&["0123456789", "abcdefghij"]);
    let (home, url) = (Home::new(), server.url("/f"));
    assert_eq!(home.get(&["-r", "0-3", &url]), "0123|206 miss");
    assert_eq!(home.get(&[&url]), "abcdefghij|200 miss");
    assert_eq!(home.get(&["-r", "0-3", &url]), "abcd|206 hit");
    assert_eq!(server.served(), 2);
}

/// Replies to the request for the rest that do not fit the stored part, or break off.
#[test]
fn a_bad_rest_spoils_nothing() {
    let server = scripted(|_, request| {
        let part = |status, body: &'static str, range: &str| {
            Response { status, ..fresh(body) }.with("ETag", "\"a\"").with("Content-Range", range.to_owned())
        };
        match (request.path(), request.field("If-Range").is_some()) {
            ("/other-tag", true) => Response { status: 206, ..fresh("4567") }
                .with("ETag", "\"b\"")
                .with("Content-Range", "bytes 4-7/10"),
            ("/other-range", true) => part(206, "56", "bytes 5-6/10"),
            ("/other-length", true) => part(206, "4567", "bytes 4-7/12"),
            ("/unmet", true) => Response::status(412),
            ("/beyond", true) => Response::status(416),
            ("/cut", true) => {
                let head = "HTTP/1.1 206 Partial Content\r\nETag: \"a\"\r\nContent-Range: bytes 4-7/10\r\n\
                    Cache-Control: max-age=1000\r\nContent-Length: 4\r\n\r\n45";
                Response::raw(head, After::Cut)
            }
            ("/gone", true) => Response::status(404),
            (_, false) if request.field("Range") == Some("bytes=0-3") => part(206, "0123", "bytes 0-3/10"),
            _ => part(206, "01234567", "bytes 0-7/10"),
        }
    });
    let home = Home::new();
    for path in ["other-tag", "other-range", "other-length", "unmet", "beyond"] {
        let url = server.url(&format!("/{path}"));
        assert_eq!(home.get(&["-r", "0-3", &url]), "0123|206 miss", "{path}");
        assert_eq!(home.get(&["-r", "0-7", &url]), "01234567|206 miss", "{path}");
        assert_eq!(home.get(&["-r", "2-6", &url]), "23456|206 hit", "{path}");
    }
    let url = server.url("/cut");
    assert_eq!(home.get(&["-r", "0-3", &url]), "0123|206 miss");
    let ran = home.ran(&["-r", "0-7", &url]);
    assert!(ran.code == 18 && ran.stdout.starts_with("012345|"), "{} {}", ran.code, ran.stdout);
    assert_eq!(home.get(&["-r", "0-3", &url]), "0123|206 hit", "the part is there still");
    let url = server.url("/gone");
    assert_eq!(home.get(&["-r", "0-3", &url]), "0123|206 miss");
    assert!(home.get(&["-r", "0-7", &url]).ends_with("|404 miss"));
}

/// nginx and Apache: what their replies are joined to is the file.
#[test]
fn parts_from_other_servers_make_the_file() {
    let authority = Authority::new();
    let (nginx, apache) = (Nginx::start(&authority.good(), &[300_000]), Apache::start(&[300_000]));
    let home = Home(folder_with("ca.pem", authority.ca_pem()));
    let file = pattern(300_000);
    let of_nginx = nginx.map(|server| {
        (vec![server.http("/bytes-300000"), server.https("/bytes-300000")], Box::new(server) as Box<dyn Any>)
    });
    let of_apache =
        apache.map(|server| (vec![server.http("/bytes-300000")], Box::new(server) as Box<dyn Any>));
    let tag = |url: &str| {
        let words = ["--cacert", "ca.pem", "-I", "-o", "head", "-w", "%header{etag}", url];
        curl_in(home.0.clone(), &words).stdout
    };
    for (urls, _running) in [of_nginx, of_apache].map(|server| server.unwrap()) {
        for url in &urls {
            // Apache's validator is weak as long as the file may change within the same second.
            while tag(url).starts_with("W/") {
                std::thread::yield_now();
            }
            let get = |range: &[&str]| {
                let output = home.get(&[&["--cacert", "ca.pem", "-o", "f", url], range].concat());
                (output, fs::read(home.0.join("f")).unwrap())
            };
            let (output, part) = get(&["-r", "0-99999"]);
            assert!(output == "|206 miss" && part == file[..100_000], "{url} {output}");
            let (output, part) = get(&["-r", "200000-"]);
            assert!(output == "|206 miss" && part == file[200_000..], "{url} {output}");
            let (output, part) = get(&["-r", "50000-249999"]);
            assert!(output == "|206 completed" && part == file[50_000..250_000], "{url} {output}");
            let (output, all) = get(&["-H", "Cache-Control: no-cache"]);
            assert!(output == "|200 revalidated" && all == file, "{url} {output}");
        }
    }
}

#[test]
fn resumed_and_segmented_downloads_do_not_meet_stored_parts() {
    let server = with_ranges(b"0123456789", &[("Cache-Control", "max-age=1000"), ("ETag", "\"a\"")]);
    let (home, url) = (Home::new(), server.url("/f"));
    assert_eq!(home.get(&["-r", "3-", &url]), "3456789|206 miss");
    fs::write(home.0.join("f"), "012").unwrap();
    assert_eq!(home.get(&["-C", "-", "-o", "f", &url]), "|206 bypass");
    assert_eq!(fs::read(home.0.join("f")).unwrap(), b"0123456789");
    assert_eq!(server.served(), 2);
    let ran = home.ran(&["--segments", "2", "-o", "g", &url]);
    assert!(ran.code == 0 && ran.stdout.ends_with(' '), "{} {}", ran.code, ran.stdout);
    assert_eq!(fs::read(home.0.join("g")).unwrap(), b"0123456789");
    assert_eq!(home.files(".head").len(), 1);
}

#[test]
fn a_stale_part_is_validated_if_its_validator_is_strong() {
    let server = with_ranges(b"0123456789", &[("Cache-Control", "max-age=0"), ("ETag", "\"a\"")]);
    let (home, url) = (Home::new(), server.url("/f"));
    assert_eq!(home.get(&["-r", "2-5", &url]), "2345|206 miss");
    assert_eq!(home.get(&["-r", "3-4", &url]), "34|206 revalidated");
    assert_eq!(home.get(&[&url]), "0123456789|200 miss");
    assert_eq!(home.get(&["-r", "0-1", &url]), "01|206 revalidated");
    let server = with_ranges(b"0123456789", &[("Cache-Control", "max-age=0"), ("ETag", "W/\"a\"")]);
    let url = server.url("/f");
    assert_eq!(home.get(&[&url]), "0123456789|200 miss");
    assert_eq!(home.get(&["-r", "0-1", &url]), "01|206 miss");
}

/// Parts that contradict themselves or are none.
#[test]
fn odd_parts_are_not_stored() {
    let server = scripted(|_, request| {
        let part =
            |range: &'static str| Response { status: 206, ..fresh("0123") }.with("Content-Range", range);
        match request.path() {
            "/longer" => part("bytes 0-2/10"),
            "/none" => Response { status: 206, ..fresh("0123") },
            "/beyond" => part("bytes 0-3/3"),
            "/lines" => part("lines 0-3/10"),
            "/shorter" => part("bytes 0-4/10"),
            _ => part("bytes 0-3/*"),
        }
    });
    let home = Home::new();
    let odd = ["longer", "none", "beyond", "lines"].map(|path| (path, "miss"));
    for (path, role) in odd.into_iter().chain([("shorter", "hit"), ("star", "hit")]) {
        let url = server.url(&format!("/{path}"));
        assert_eq!(home.get(&["-r", "0-3", &url]), "0123|206 miss", "{path}");
        assert_eq!(home.get(&["-r", "0-3", &url]), format!("0123|206 {role}"), "{path}");
    }
    assert_eq!(home.get(&["-r", "1-2", &server.url("/star")]), "12|206 hit");
    assert_eq!(home.get(&["-r", "1-", &server.url("/star")]), "0123|206 miss");
}

#[test]
fn an_error_serves_only_if_the_server_says_how_long() {
    let server = scripted(|number, request| match request.path() {
        "/brief" => Response::status(503),
        _ if number % 2 == 0 => Response { status: 503, ..fresh("gone") },
        _ => fresh("good"),
    });
    let (home, url) = (Home::new(), server.url("/f"));
    assert_eq!(home.get(&[&url]), "gone|503 miss");
    assert_eq!(home.get(&[&url]), "gone|503 hit");
    // A command that repeats errors does not repeat a stored one.
    assert_eq!(home.get(&["--retry", "1", &url]), "good|200 miss");
    assert_eq!(home.get(&[&url]), "good|200 hit");
    // An error does not replace what may be valid still.
    assert_eq!(home.get(&["-H", "Cache-Control: no-cache", &url]), "gone|503 miss");
    assert_eq!(home.get(&[&url]), "good|200 hit");
    for _ in 0..2 {
        assert!(home.get(&[&server.url("/brief")]).ends_with("|503 miss"));
    }
}

#[test]
fn a_reply_to_post_serves_where_it_names_its_own_place() {
    let server = scripted(|number, request| match request.path() {
        "/own" => fresh(format!("{number}")).with("Content-Location", "own"),
        "/other" => fresh(format!("{number}")).with("Content-Location", "/own"),
        _ => fresh(format!("{number}")),
    });
    let home = Home::new();
    for (path, role) in [("own", "hit"), ("other", "miss"), ("none", "miss")] {
        let url = server.url(&format!("/{path}"));
        let posted = home.get(&["-d", "x", &url]);
        assert!(posted.ends_with("|200 bypass"), "{path} {posted}");
        let got = home.get(&[&url]);
        assert!(got.ends_with(&format!("|200 {role}")), "{path} {got}");
        assert_eq!(got.split('|').next() == posted.split('|').next(), role == "hit", "{path} {got} {posted}");
    }
}
