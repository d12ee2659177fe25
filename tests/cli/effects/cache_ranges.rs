//! `--cache` and what it serves besides whole replies to GET: ranges, errors that their server keeps, replies
//! to POST.

use super::cache::{Home, fresh, scripted};
use std::fs;
use testkit::http::{HttpServer, Response};

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
    // Parts are neither joined nor taken for the whole.
    assert_eq!(home.get(&["-r", "0-4", &url]), "01234|206 miss");
    assert_eq!(home.get(&["-r", "3-5", &url]), "345|206 miss");
    assert_eq!(home.get(&["-r", "0-4", &url]), "01234|206 hit");
    assert_eq!(home.get(&["-H", "Cache-Control: only-if-cached", &url]), "|504 miss");
    assert_eq!(home.get(&[&url]), "0123456789|200 miss");
    assert_eq!(home.get(&[&url]), "0123456789|200 hit");
    assert_eq!(home.get(&["-r", "1-8", &url]), "12345678|206 hit");
    assert_eq!(server.served(), 4);
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
