//! Inputs of eight megabytes and limits to the byte, through the whole way: options, stores, requests and
//! replies.

use std::fs;

use crate::common::{handle, long, text};
use tables::{Code, EasyOption as O};
use testkit::http::{HttpServer, Response};
use testkit::raw::{RawPeer, Script, Step, expect, send};
use testkit::temp::TempDir;
use warmwire_engine::Easy;

const BIG: usize = 8 << 20;
/// curl's CURL_MAX_INPUT_LENGTH: longer strings are no arguments.
const LONGEST: usize = 8_000_000;
const LARGER: &str = "A value or data field grew larger than allowed";

fn once(reply: &str) -> Script {
    vec![expect("\r\n\r\n"), send(reply), Step::Finish]
}

fn reply_to(script: Script, change: impl Fn(&Easy)) -> (Code, String) {
    let peer = RawPeer::start(vec![script]);
    let (easy, _app) = handle(&format!("http://127.0.0.1:{}/", peer.port()));
    change(&easy);
    let code = easy.perform();
    let message = easy.state().message();
    (code, if message.is_empty() { code.text().to_owned() } else { message })
}

fn of_head(fields: &str) -> (Code, String) {
    reply_to(once(&format!("HTTP/1.1 200 OK\r\n{fields}Content-Length: 2\r\n\r\nok")), |_| {})
}

/// covers: CURLOPT_URL, CURLOPT_COOKIE, CURLOPT_USERPWD, CURLOPT_USERAGENT, CURLOPT_REFERER, CURLOPT_RANGE,
/// CURLOPT_PROXY
#[test]
fn strings_have_a_longest() {
    let (long_one, too_long) = ("x".repeat(LONGEST), "x".repeat(LONGEST + 1));
    let (easy, _app) = handle("http://unused.example/");
    for option in [
        O::Url,
        O::Cookie,
        O::CookieFile,
        O::CookieList,
        O::UserAgent,
        O::Referer,
        O::Range,
        O::CustomRequest,
        O::Proxy,
        O::Username,
        O::UserPwd,
        O::Xoauth2Bearer,
        O::AcceptEncoding,
        O::CaInfo,
        O::Interface,
    ] {
        let given = easy.set_text(option, Some(too_long.as_bytes()));
        assert_eq!(given, Err(Code::BadFunctionArgument), "{option:?}");
    }
    for option in [O::Url, O::Cookie, O::UserAgent, O::Referer, O::Username] {
        assert_eq!(easy.set_text(option, Some(long_one.as_bytes())), Ok(()), "{option:?}");
    }
    // Posted data has no such limit.
    assert_eq!(easy.set_text(O::CopyPostFields, Some(too_long.as_bytes())), Ok(()));
}

/// The limit of a host name applies to any look-up: here of a proxy that does not exist.
#[test]
fn hosts_have_a_longest() {
    for (length, code) in [(65_535, Code::CouldntConnect), (65_536, Code::UrlMalformat)] {
        let (easy, _app) = handle(&format!("http://{}/", "x".repeat(length)));
        text(&easy, O::Proxy, &format!("http://127.0.0.1:{}", RawPeer::refused_port()));
        assert_eq!(easy.perform(), code, "{length}: {}", easy.state().message());
    }
}

/// A head of more than a megabyte is not sent, whichever option made it so.
/// covers: CURLOPT_HTTPHEADER
#[test]
fn requests_have_a_longest_head() {
    let server = HttpServer::plain();
    let big = "x".repeat(LONGEST - 100);
    for option in [O::Cookie, O::UserAgent, O::Referer, O::Username] {
        let (easy, _app) = handle(&server.url("/"));
        text(&easy, option, &big);
        assert_eq!(easy.perform(), Code::TooLarge, "{option:?}");
    }
    let (easy, _app) = handle(&server.url(&format!("/{big}")));
    assert_eq!(easy.perform(), Code::TooLarge);
    let (easy, _app) = handle(&server.url("/"));
    let field = format!("X: {}", "x".repeat(BIG));
    easy.state().settings.borrow_mut().set_list(O::HttpHeader, Some(vec![field.as_bytes().into()])).unwrap();
    assert_eq!(easy.perform(), Code::TooLarge);
    assert_eq!(server.served(), 0);
    let (easy, _app) = handle(&format!("http://{big}/"));
    assert_eq!(easy.perform(), Code::UrlMalformat);
}

/// covers: CURLOPT_COOKIEFILE
#[test]
fn a_long_line_of_a_cookie_file_is_passed_over() {
    let server = HttpServer::plain();
    let folder = TempDir::new("big").unwrap();
    let file = folder.path().join("cookies");
    let line = |name: &str, value: &str| format!("127.0.0.1\tFALSE\t/\tFALSE\t0\t{name}\t{value}\n");
    fs::write(&file, line("a", "1") + &line("big", &"x".repeat(BIG)) + &line("b", "2")).unwrap();
    let (easy, _app) = handle(&server.url("/"));
    easy.set_text(O::CookieFile, Some(file.to_str().unwrap().as_bytes())).unwrap();
    assert_eq!(easy.perform(), Code::Ok);
    let request = server.last_request().unwrap();
    let mut cookies: Vec<&str> = request.field("Cookie").unwrap().split("; ").collect();
    cookies.sort_unstable();
    assert_eq!(cookies, ["a=1", "b=2"]);
}

#[test]
fn fields_of_eight_megabytes_are_refused() {
    let big = "x".repeat(BIG);
    let refused = (Code::TooLarge, LARGER.to_owned());
    assert_eq!(of_head(&format!("Set-Cookie: a={big}\r\n")), refused);
    let redirect = format!("HTTP/1.1 302 F\r\nLocation: /{big}\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(reply_to(once(&redirect), |easy| long(easy, O::FollowLocation, 1)), refused);
}

/// The numbers are those that curl 8.21 accepts and refuses.
#[test]
fn limits_of_heads_to_the_byte() {
    let field = |length: usize| format!("X-A: {}\r\n", "a".repeat(length - 7));
    let taken = (Code::Ok, String::new());
    let refused = (Code::TooLarge, LARGER.to_owned());
    let ok = |(code, _)| (code, String::new());
    assert_eq!(ok(of_head(&field(102_399))), taken);
    assert_eq!(of_head(&field(102_400)), refused);
    // Status line, three fields, Content-Length and the empty line are 17 + 3 * 102,000 + 19 + 2 bytes.
    let three = field(102_000).repeat(3);
    assert_eq!(ok(of_head(&(three.clone() + &field(1162)))), taken);
    let text = "Too large response headers: 307201 > 307200".to_owned();
    assert_eq!(of_head(&(three + &field(1163))), (Code::RecvError, text));
    assert_eq!(ok(of_head(&"X: y\r\n".repeat(4999))), taken);
    let text = "Too many response headers, 5000 is max".to_owned();
    assert_eq!(of_head(&"X: y\r\n".repeat(5000)), (Code::TooLarge, text));
}

/// Each request of a chain of redirects has its own limit, and all of them one twenty times as high.
#[test]
fn long_heads_add_up_over_redirects() {
    let filler = "a".repeat(90_000);
    let server = HttpServer::with(move |_| {
        Some(Response::status(302).with("Location", "/").with("X-A", &*filler).with("X-B", &*filler))
    });
    let (easy, _app) = handle(&server.url("/"));
    long(&easy, O::FollowLocation, 1);
    long(&easy, O::MaxRedirs, 10);
    assert_eq!(easy.perform(), Code::TooManyRedirects);
    long(&easy, O::MaxRedirs, 100);
    assert_eq!(easy.perform(), Code::RecvError);
    let message = easy.state().message();
    assert!(
        message.starts_with("Too large response headers: ") && message.ends_with(" > 6144000"),
        "{message}"
    );
}

#[test]
fn lengths_that_are_none() {
    for value in ["-5", "+2", "2x", "", "0x2", "2;3"] {
        let (code, _) = of_head(&format!("Content-Length: {value}\r\n"));
        assert_eq!(code, Code::WeirdServerReply, "{value:?}");
    }
    // A length that overflows is ignored: the body ends with the connection.
    let reply = "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nok";
    assert_eq!(reply_to(once(reply), |_| {}).0, Code::Ok);
    let reply = "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\nok";
    let text = "end of response with 9223372036854775805 bytes missing".to_owned();
    assert_eq!(reply_to(once(reply), |_| {}), (Code::PartialFile, text));
}

#[test]
fn octets_that_are_read_in_two_ways() {
    for (fields, text) in [
        ("X: a\0b\r\n", "Nul byte in header"),
        ("X\0Y: a\r\n", "Nul byte in header"),
        ("X: a\rY: b\r\n", "Carriage return found in header"),
    ] {
        assert_eq!(of_head(fields), (Code::WeirdServerReply, text.to_owned()));
    }
}
