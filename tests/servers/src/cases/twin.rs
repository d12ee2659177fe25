//! Transfers on both libraries: what the server saw, byte by byte, and the program's facts must
//! agree, except for differences listed with a reason. Where 7.88 and 8.22 differ, 8.22's documentation
//! decides.

use testkit::http::{After, HttpServer, Request, Response};

use super::ours;
use crate::runner::{Case, Context, Output};
use crate::subject::Subject;

pub fn cases() -> Vec<Case> {
    vec![
        ours("twin-requests", |run| agree(run, &REQUESTS)),
        ours("twin-redirects", |run| agree(run, &REDIRECTS)),
        ours("twin-answers", |run| agree(run, &ANSWERS)),
        ours("twin-urls", urls),
    ]
}

/// Options as `fetch -o` takes them, separated by two spaces, and the path.
type Row = (&'static str, &'static str);

const REQUESTS: [Row; 68] = [
    ("", "/bytes/100"),
    ("", "/bytes/100?query=1&b"),
    ("NOBODY=1", "/bytes/100"),
    ("HTTPGET=1", "/bytes/100"),
    ("USERAGENT=tester/1.0", "/bytes/1"),
    ("USERAGENT=", "/bytes/1"),
    ("REFERER=http://from.example/", "/bytes/1"),
    ("COOKIE=a=b; c=d", "/bytes/1"),
    ("HTTPHEADER=X-Own: 1|X-Empty;|Accept:", "/bytes/1"),
    ("HTTPHEADER=Host: other.example", "/bytes/1"),
    ("HTTPHEADER=Host:", "/bytes/1"),
    ("HTTPHEADER=X-Last: two words ", "/bytes/1"),
    ("HTTPHEADER=Connection: close", "/bytes/1"),
    ("HTTPHEADER=Content-Type: text/plain  POSTFIELDS=abc", "/body"),
    ("HTTPHEADER=Content-Length:  POSTFIELDS=abc", "/bytes/1"),
    ("HTTPHEADER=Content-Length: 3  POSTFIELDS=abc", "/body"),
    ("HTTPHEADER=Transfer-Encoding: chunked  POSTFIELDS=abc", "/body"),
    ("HTTPHEADER=Expect: 100-continue  POSTFIELDS=abc", "/body"),
    ("HTTPHEADER=Expect:  POSTFIELDS=abc", "/body"),
    ("HTTPHEADER=Accept-Encoding: identity", "/bytes/1"),
    ("HTTPHEADER=Authorization: Own abc", "/bytes/1"),
    ("HTTPHEADER=Cookie: own=1  COOKIE=two=2", "/bytes/1"),
    ("HTTPHEADER=Range: bytes=1-2  RANGE=3-4", "/bytes/10"),
    ("POSTFIELDS=a=1&b=2", "/body"),
    ("POSTFIELDS=", "/body"),
    ("POST=1  POSTFIELDS=abc  POSTFIELDSIZE=2", "/body"),
    ("POSTFIELDS=abc  CUSTOMREQUEST=PATCH", "/body"),
    ("CUSTOMREQUEST=DELETE", "/bytes/5"),
    ("CUSTOMREQUEST=OPTIONS  REQUEST_TARGET=*", "/bytes/5"),
    ("REQUEST_TARGET=/other/target", "/bytes/5"),
    ("NOBODY=1  CUSTOMREQUEST=GET", "/status/204"),
    ("RANGE=0-9", "/bytes/100"),
    ("RANGE=90-", "/bytes/100"),
    ("RANGE=-5", "/bytes/100"),
    ("RESUME_FROM=50", "/bytes/100"),
    ("RESUME_FROM_LARGE=99", "/bytes/100"),
    ("RESUME_FROM=100", "/bytes/100"),
    ("USERPWD=user:secret", "/basic/user/secret"),
    ("USERNAME=user  PASSWORD=secret", "/basic/user/secret"),
    ("USERPWD=user:secret  HTTPAUTH=3", "/basic/user/secret"),
    ("USERPWD=user:secret  HTTPAUTH=-17", "/basic/user/secret"),
    ("USERPWD=user:wrong  HTTPAUTH=-17", "/basic/user/secret"),
    ("USERPWD=user:", "/bytes/1"),
    ("USERPWD=:secret", "/bytes/1"),
    ("XOAUTH2_BEARER=token  HTTPAUTH=64", "/bytes/1"),
    ("ACCEPT_ENCODING=gzip", "/gzip/3000"),
    ("ACCEPT_ENCODING=deflate", "/deflate/3000"),
    ("ACCEPT_ENCODING=identity", "/bytes/100"),
    ("ACCEPT_ENCODING=gzip  HTTP_CONTENT_DECODING=0", "/gzip/3000"),
    ("TRANSFER_ENCODING=1", "/bytes/100"),
    ("HTTP_VERSION=1", "/bytes/100"),
    ("HTTP_VERSION=1  POSTFIELDS=abc", "/body"),
    ("HTTP_VERSION=2", "/bytes/100"),
    ("TIMECONDITION=1  TIMEVALUE=784111777", "/bytes/100"),
    ("TIMECONDITION=2  TIMEVALUE=784111777", "/bytes/100"),
    ("TIMECONDITION=3  TIMEVALUE_LARGE=784111777", "/bytes/100"),
    ("COOKIEFILE=", "/cookies/set/a/b"),
    ("COOKIELIST=Set-Cookie: x=y", "/cookies"),
    ("COOKIELIST=Set-Cookie: x=y; domain=127.0.0.1; path=/", "/cookies"),
    ("FORBID_REUSE=1", "/bytes/10"),
    ("FRESH_CONNECT=1", "/bytes/10"),
    ("HTTP_TRANSFER_DECODING=0", "/chunked/100/30"),
    ("IGNORE_CONTENT_LENGTH=1", "/last/bytes/100"),
    ("HEADER=1", "/bytes/100"),
    ("PUT=1  INFILESIZE=0", "/body"),
    ("UPLOAD=1  INFILESIZE=0  CUSTOMREQUEST=LOCK", "/body"),
    (SIGNED, "/bytes/1"),
    ("PATH_AS_IS=1", "/bytes/../bytes/./5"),
];

const REDIRECTS: [Row; 24] = [
    ("FOLLOWLOCATION=1", "/redirect/3"),
    ("FOLLOWLOCATION=1  MAXREDIRS=2", "/redirect/3"),
    ("FOLLOWLOCATION=1  MAXREDIRS=0", "/redirect/1"),
    ("FOLLOWLOCATION=1  AUTOREFERER=1", "/redirect/2"),
    ("FOLLOWLOCATION=1  AUTOREFERER=1  REFERER=http://from.example/", "/redirect/1"),
    ("FOLLOWLOCATION=1  POSTFIELDS=abc", "/redirect/1/301"),
    ("FOLLOWLOCATION=1  POSTFIELDS=abc", "/redirect/1/302"),
    ("FOLLOWLOCATION=1  POSTFIELDS=abc", "/redirect/1/303"),
    ("FOLLOWLOCATION=1  POSTFIELDS=abc", "/redirect/1/307"),
    ("FOLLOWLOCATION=1  POSTFIELDS=abc", "/redirect/1/308"),
    ("FOLLOWLOCATION=1  POSTFIELDS=abc  POSTREDIR=1", "/redirect/1/301"),
    ("FOLLOWLOCATION=1  POSTFIELDS=abc  POSTREDIR=2", "/redirect/1/302"),
    ("FOLLOWLOCATION=1  POSTFIELDS=abc  POSTREDIR=4", "/redirect/1/303"),
    ("FOLLOWLOCATION=1  POSTFIELDS=abc  POSTREDIR=7", "/redirect/2/301"),
    ("FOLLOWLOCATION=1  NOBODY=1", "/redirect/2"),
    ("FOLLOWLOCATION=1  USERPWD=user:secret", "/redirect/2"),
    ("FOLLOWLOCATION=1  COOKIE=a=b", "/redirect/2"),
    ("FOLLOWLOCATION=1  RANGE=0-3", "/redirect/1"),
    ("FOLLOWLOCATION=1  CUSTOMREQUEST=DELETE", "/redirect/1/307"),
    ("FOLLOWLOCATION=1  HTTPHEADER=X-Own: 1|Host: other.example", "/redirect/1"),
    ("FOLLOWLOCATION=1  HEADER=1", "/redirect/2"),
    ("FOLLOWLOCATION=1", "/to?/a%20b/../c?d=e#f"),
    ("FOLLOWLOCATION=1", "/to?nosuch://host/"),
    ("FOLLOWLOCATION=1", "/status/302"),
];

const ANSWERS: [Row; 30] = [
    ("", "/status/404"),
    ("FAILONERROR=1", "/status/404"),
    ("FAILONERROR=1", "/status/500"),
    ("", "/status/204"),
    ("", "/status/304"),
    ("", "/close/1000"),
    ("", "/chunked/1000/1"),
    ("", "/cut/60/bytes/5000"),
    ("", "/cut/200/bytes/5000"),
    ("", "/cut/200/chunked/5000/100"),
    ("", "/cut/0/bytes/10"),
    ("MAXFILESIZE=99", "/bytes/100"),
    ("MAXFILESIZE=100", "/bytes/100"),
    ("", "/raw/continue"),
    ("", "/raw/two-lengths"),
    ("", "/raw/same-length-twice"),
    ("", "/raw/bad-length"),
    ("", "/raw/negative-length"),
    ("", "/raw/length-and-chunked"),
    ("", "/raw/bad-chunk"),
    ("", "/raw/chunk-extension"),
    ("", "/raw/trailer"),
    ("", "/raw/no-reason"),
    ("", "/raw/bare-newlines"),
    ("", "/raw/old-version"),
    ("", "/raw/nonsense"),
    ("HTTP09_ALLOWED=1", "/raw/nonsense"),
    ("", "/raw/folded"),
    ("ACCEPT_ENCODING=", "/raw/broken-gzip"),
    ("", "/raw/early-hints"),
];

/// Answers as they go onto the wire.
fn raw(request: &Request) -> Option<Response> {
    let text = match request.path().strip_prefix("/raw/")? {
        "continue" => "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        "two-lengths" => "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok!",
        "same-length-twice" => "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok",
        "bad-length" => "HTTP/1.1 200 OK\r\nContent-Length: two\r\n\r\nok",
        "negative-length" => "HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nok",
        "length-and-chunked" => {
            "HTTP/1.1 200 OK\r\nContent-Length: 99\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
        }
        "bad-chunk" => "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nok\r\n0\r\n\r\n",
        "chunk-extension" => {
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;name=value\r\nok\r\n0\r\n\r\n"
        }
        "trailer" => "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Late: 1\r\n\r\n",
        "no-reason" => "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok",
        "bare-newlines" => "HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
        "old-version" => "HTTP/1.0 200 OK\r\n\r\nuntil the end",
        "nonsense" => "what is this\r\n",
        "folded" => "HTTP/1.1 200 OK\r\nX-Long: one\r\n two\r\nContent-Length: 2\r\n\r\nok",
        "broken-gzip" => "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 9\r\n\r\nnot gzip!",
        "early-hints" => {
            "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        }
        _ => return None,
    };
    Some(Response::raw(text, After::Finish))
}

const SIGNED: &str =
    "AWS_SIGV4=aws:amz:region:service  USERPWD=key:secret  HTTPHEADER=X-Amz-Date: 20200101T000000Z";
/// Options and path as in a row, and why they may differ.
const DIFFERENCES: [(&str, &str, &str); 6] = [
    ("TRANSFER_ENCODING=1", "/bytes/100", "8.22 writes Connection last"),
    (SIGNED, "/bytes/1", "7.88 sends the date that it was given twice"),
    (
        "FOLLOWLOCATION=1  AUTOREFERER=1",
        "/redirect/2",
        "7.88 sends the next transfer the referer of the one before",
    ),
    ("", "/raw/two-lengths", "8.22 refuses lengths that contradict each other (RFC 9112 section 6.3)"),
    ("", "/%2e%2e/b", "8.22 takes an escaped dot for a dot"),
    ("", "/ä", "8.22 escapes with capital digits"),
];

fn agree(run: &Context, rows: &[Row]) {
    let mut wrong = Vec::new();
    for (options, path) in rows {
        let behaviour_of = |subject: &Subject| behaviour(&Context::new(run.world, subject), options, path);
        let (theirs, ours) = (behaviour_of(&Subject::Distribution), behaviour_of(run.subject));
        let listed = DIFFERENCES.iter().any(|(o, p, _)| (o, p) == (options, path));
        match theirs == ours {
            true if listed => wrong.push(format!("{options} {path} is listed and does not differ")),
            false if !listed => wrong.push(format!("{options} {path}\ntheirs: {theirs}\nours:   {ours}")),
            _ => {}
        }
    }
    if !testkit::baseline::changed_packages().is_empty() {
        return wrong.into_iter().for_each(|text| run.change(text));
    }
    let which: Vec<_> = wrong.iter().map(|text| text.lines().next().unwrap_or("")).collect();
    assert!(wrong.is_empty(), "{} of {} differ: {which:?}\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

/// Returns the received requests and the facts of two transfers over one handle.
fn behaviour(run: &Context, options: &str, path: &str) -> String {
    let server = HttpServer::with(raw);
    let mut arguments: Vec<&str> =
        options.split("  ").filter(|option| !option.is_empty()).flat_map(|o| ["-o", o]).collect();
    let url = server.url(path);
    arguments.extend(["-n", "2", &url]);
    let output = run.program("fetch", &arguments);
    let requests: Vec<String> = server.requests().iter().map(wire).collect();
    format!("{}{}", facts(&output), requests.join("")).replace(&server.port().to_string(), "PORT")
}

fn wire(request: &Request) -> String {
    format!(
        "[{}: {}|{}]",
        request.connection,
        String::from_utf8_lossy(&request.head),
        String::from_utf8_lossy(&request.body)
    )
    .replace("\r\n", "|")
}

fn facts(output: &Output) -> String {
    let names = ["code", "http", "bytes", "sum", "connects", "redirects"];
    let lines = (0..output.facts("code").len()).map(|index| {
        let values: Vec<String> =
            names.iter().map(|name| format!("{name}={}", output.facts(name)[index])).collect();
        values.join(" ")
    });
    let refused = output.stdout.lines().filter(|line| line.starts_with("setopt ")).map(str::to_owned);
    refused.chain(lines).map(|line| line + "\n").collect()
}

/// The treatment of odd URLs in a request.
fn urls(run: &Context) {
    let rows: Vec<Row> = [
        "/a%20b",
        "/a b",
        "/a/../b",
        "/a/./b",
        "/a/..",
        "/..",
        "/%2e%2e/b",
        "//double",
        "/?",
        "/?a b",
        "/#fragment",
        "/path#fragment?query",
        "/a?b#c",
        "/a;b=c",
        "/ä",
        "/%zz",
        "/a\\b",
        "/a|b",
        "/<>",
        "/\"quoted\"",
        "?only",
        "#only",
        "/a?b?c",
        "/~user",
        "/a%2Fb",
        "/%41",
        "/a+b",
        "/*",
        "/a:b@c",
    ]
    .map(|path| ("", path))
    .to_vec();
    agree(run, &rows);
}
