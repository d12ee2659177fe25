//! The built-in paths. A client in any language controls the server by its URL alone.
//!
//! | path | answer |
//! |---|---|
//! | `/bytes/N` | N bytes of the pattern; honours `Range` |
//! | `/chunked/N/S` | the same in chunks of S bytes |
//! | `/close/N` | the same, delimited by the end of the connection |
//! | `/text/N` | N letters of `text/plain` |
//! | `/gzip/N`, `/deflate/N` | the same, coded |
//! | `/cut/K/PATH` | the first K bytes of PATH's answer, then FIN |
//! | `/reset/K/PATH` | the first K bytes of PATH's answer, then RST |
//! | `/delay/MS/PATH` | PATH's answer after MS milliseconds |
//! | `/drip/S/MS/PATH` | PATH's body, S bytes each MS milliseconds |
//! | `/last/PATH` | PATH's answer with `Connection: close`, then the end |
//! | `/status/CODE` | that status with a short body |
//! | `/redirect/K` | K hops of 302, then 200; `/redirect/K/CODE` with another status |
//! | `/to?URL` | 302 to that URL |
//! | `/echo` | the request's head and body as the body |
//! | `/body` | the request's body as the body |
//! | `/sum` | length and FNV-1a of the request's body |
//! | `/cookies/set/NAME/VALUE` | sets a cookie |
//! | `/cookies` | the Cookie field as the body |
//! | `/basic/USER/PASSWORD` | 401 unless these credentials come |
//! | `/headers/N/S` | N fields of S bytes each; `/endless` never ends its head |
//! | `/no-continue/…`, `/expect/417` | never sends 100; refuses the expectation |
//! | `/stats` | `accepts=A open=O served=S` |

use std::io::Write;
use std::time::Duration;

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};

use super::request::Request;
use super::response::{After, Framing, Response};
use crate::base64;
use crate::body::{fnv1a, pattern};

/// A head that no client should read to its end.
const ENDLESS_HEAD: usize = 8 << 20;

/// The server's counters at the time of the request.
#[derive(Clone, Copy)]
pub struct Counters {
    pub accepts: usize,
    pub open: usize,
    pub served: usize,
}

/// Returns a refusal based on the head alone, if the path requests one.
pub fn refuse_expectation(request: &Request) -> Option<Response> {
    request
        .path()
        .starts_with("/expect/417")
        .then(|| Response { after: After::Finish, ..Response::status(417) })
}

pub fn answer(request: &Request, counters: Counters) -> Response {
    answer_path(request, request.path(), counters)
}

fn answer_path(request: &Request, path: &str, counters: Counters) -> Response {
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    let number = |index: usize| parts.get(index).and_then(|text| text.parse::<usize>().ok()).unwrap_or(0);
    let millis = |index: usize| Duration::from_millis(number(index) as u64);
    let rest = |index: usize| {
        answer_path(request, &format!("/{}", parts[index.min(parts.len())..].join("/")), counters)
    };
    match parts[0] {
        "" => Response::ok("warmwire testkit\n"),
        "bytes" | "no-continue" => ranged(request, pattern(number(1))),
        "chunked" => {
            Response { framing: Framing::Chunked(number(2).max(1)), ..Response::ok(pattern(number(1))) }
        }
        "close" => Response { framing: Framing::Close, ..Response::ok(pattern(number(1))) },
        "text" => Response::ok(vec![b'x'; number(1)]).with("Content-Type", "text/plain"),
        "gzip" => Response::ok(gzip(&pattern(number(1)))).with("Content-Encoding", "gzip"),
        "deflate" => Response::ok(zlib(&pattern(number(1)))).with("Content-Encoding", "deflate"),
        "cut" => Response { cut_at: Some(number(1)), after: After::Cut, ..rest(2) },
        "reset" => Response { cut_at: Some(number(1)), after: After::Reset, ..rest(2) },
        "delay" => Response { delay: millis(1), ..rest(2) },
        "drip" => Response { drip: Some((number(1), millis(2))), ..rest(3) },
        "last" => Response { after: After::Finish, ..rest(1) }.with("Connection", "close"),
        "status" => Response::status(number(1) as u16),
        "redirect" => redirect(number(1), parts.get(2).and_then(|code| code.parse().ok()).unwrap_or(302)),
        "to" => {
            Response::status(302).with("Location", request.target.split_once('?').map_or("/", |(_, url)| url))
        }
        "echo" => Response::ok([request.head.clone(), request.body.clone()].concat()),
        "body" => Response::ok(request.body.clone()),
        "sum" => Response::ok(format!("{} {:016x}\n", request.body.len(), fnv1a(&request.body))),
        "cookies" => cookies(request, &parts),
        "basic" => basic(request, parts.get(1).unwrap_or(&""), parts.get(2).unwrap_or(&"")),
        "headers" => many_headers(number(1), number(2)),
        "endless" => endless(),
        "stats" => {
            let Counters { accepts, open, served } = counters;
            Response::ok(format!("accepts={accepts} open={open} served={served}\n"))
        }
        _ => Response::status(404),
    }
}

/// `body`, or the part of it that the request asks for.
pub fn ranged(request: &Request, body: Vec<u8>) -> Response {
    let Some((from, to)) = request.field("Range").and_then(|range| parse_range(range, body.len())) else {
        return Response::ok(body).with("Accept-Ranges", "bytes");
    };
    if from > to || from >= body.len() {
        return Response::status(416).with("Content-Range", format!("bytes */{}", body.len()));
    }
    let part = Response { status: 206, ..Response::ok(&body[from..=to]) };
    part.with("Content-Range", format!("bytes {from}-{to}/{}", body.len()))
}

/// Parses a range of RFC 9110 section 14.1.2 into first and last position.
fn parse_range(range: &str, length: usize) -> Option<(usize, usize)> {
    let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
    let end = length.checked_sub(1)?;
    if first.is_empty() {
        return Some((length.saturating_sub(last.parse().ok()?), end));
    }
    let last = if last.is_empty() { end } else { last.parse::<usize>().ok()?.min(end) };
    Some((first.parse().ok()?, last))
}

fn redirect(hops: usize, status: u16) -> Response {
    match hops {
        0 => Response::ok("arrived\n"),
        _ => Response::status(status).with("Location", format!("/redirect/{}/{status}", hops - 1)),
    }
}

fn cookies(request: &Request, parts: &[&str]) -> Response {
    match parts {
        [_, "set", name, value] => {
            Response::ok("set\n").with("Set-Cookie", format!("{name}={value}; Path=/"))
        }
        _ => Response::ok(request.field("Cookie").unwrap_or("").to_string()),
    }
}

fn basic(request: &Request, user: &str, password: &str) -> Response {
    let wanted = format!("Basic {}", base64::encode(format!("{user}:{password}").as_bytes()));
    match request.field("Authorization") {
        Some(given) if given == wanted => Response::ok("welcome\n"),
        _ => Response::status(401).with("WWW-Authenticate", "Basic realm=\"testkit\""),
    }
}

fn many_headers(count: usize, size: usize) -> Response {
    let value = "v".repeat(size);
    (0..count)
        .fold(Response::ok("done\n"), |response, index| response.with(&format!("X-Field-{index}"), &*value))
}

fn endless() -> Response {
    let mut head = b"HTTP/1.1 200 OK\r\n".to_vec();
    while head.len() < ENDLESS_HEAD {
        head.extend_from_slice(b"X-Again: and again and again and again and again and again and again\r\n");
    }
    Response::raw(head, After::Reset)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("writing to memory does not fail")
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("writing to memory does not fail")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        assert_eq!(parse_range("bytes=0-9", 100), Some((0, 9)));
        assert_eq!(parse_range("bytes=90-", 100), Some((90, 99)));
        assert_eq!(parse_range("bytes=-5", 100), Some((95, 99)));
        assert_eq!(parse_range("bytes=0-999", 100), Some((0, 99)));
    }
}
