//! A small HTTP server on loopback for both programs. The path determines its reply.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// How often each path of the form `/flaky/…` has been requested.
type Counts = Arc<Mutex<HashMap<String, usize>>>;

pub fn start() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let counts = Counts::default();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let counts = counts.clone();
            thread::spawn(move || while answer(&stream, &counts).is_some() {});
        }
    });
    address
}

struct ReceivedRequest {
    method: String,
    path: String,
    query: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl ReceivedRequest {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

fn answer(mut stream: &TcpStream, counts: &Counts) -> Option<()> {
    let asked = read(stream)?;
    if asked.path.starts_with("/silent") {
        return None;
    }
    let (status, headers, body) = reply(&asked, counts);
    let cut = asked.path.starts_with("/cut");
    let length = body.len() + if cut { 100 } else { 0 };
    let mut head = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).ok()?;
    if asked.method != "HEAD" {
        stream.write_all(&body).ok()?;
    }
    (!cut).then_some(())
}

fn read(stream: &TcpStream) -> Option<ReceivedRequest> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?.to_string(), words.next()?.to_string());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_string(), value.trim().to_string()));
    }
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let mut asked = ReceivedRequest {
        method,
        path: path.to_string(),
        query: query.to_string(),
        headers,
        body: Vec::new(),
    };
    if asked.header("expect").is_some() {
        let mut out = stream;
        out.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").ok()?;
    }
    if let Some(length) = asked.header("content-length").and_then(|text| text.parse().ok()) {
        reader.take(length).read_to_end(&mut asked.body).ok()?;
    } else if asked.header("transfer-encoding").is_some() {
        asked.body = chunks(&mut reader)?;
    }
    Some(asked)
}

fn chunks(reader: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let size = usize::from_str_radix(line.trim(), 16).ok()?;
        let mut chunk = vec![0; size + 2];
        reader.read_exact(&mut chunk).ok()?;
        body.extend_from_slice(&chunk[..size]);
        if size == 0 {
            return Some(body);
        }
    }
}

type Reply = (String, Vec<(&'static str, String)>, Vec<u8>);

fn reply(asked: &ReceivedRequest, counts: &Counts) -> Reply {
    let ok = |headers, body: &str| ("200 OK".to_string(), headers, body.as_bytes().to_vec());
    let parts: Vec<&str> = asked.path.trim_start_matches('/').splitn(2, '/').collect();
    match (parts[0], parts.get(1).copied().unwrap_or("")) {
        ("echo", _) => ok(vec![("Content-Type", "text/plain".into())], &echo(asked)),
        ("json", _) => ok(vec![("Content-Type", "application/json".into())], r#"{"name":"x","list":[1,2]}"#),
        ("status", code) => (format!("{code} Text"), Vec::new(), format!("body {code}\n").into_bytes()),
        ("to", place) => ("302 Found".into(), vec![("Location", format!("/{place}"))], b"moved\n".to_vec()),
        ("text", name) => ok(vec![("Content-Type", "text/plain".into())], &format!("text {name}\n")),
        ("named", name) => {
            ok(vec![("Content-Disposition", format!("attachment; filename=\"{name}\""))], "named\n")
        }
        ("login", _) => ok(vec![("Set-Cookie", "session=abc; Path=/".into())], "welcome\n"),
        ("tagged", _) if asked.header("if-none-match") == Some("\"t1\"") => {
            ("304 Not Modified".into(), vec![("ETag", "\"t1\"".into())], Vec::new())
        }
        ("tagged", _) => ok(vec![("ETag", "\"t1\"".into())], "tagged\n"),
        ("private", _) => private(asked),
        ("range", _) => range(asked),
        ("flaky", _) if count(asked, counts) < 3 => {
            ("503 Busy".into(), given_fields(&asked.query), b"busy\n".to_vec())
        }
        ("flaky", _) => ok(Vec::new(), "at last\n"),
        ("cut", _) => ok(Vec::new(), "not all\n"),
        ("fields", status) => (format!("{status} Text"), given_fields(&asked.query), b"fields\n".to_vec()),
        ("dated", _) => ok(vec![("Last-Modified", "Tue, 13 Jun 2000 12:10:00 GMT".into())], "dated\n"),
        ("escape", _) => ok(vec![("X-Odd", "a\u{1b}[31mb".into())], "odd\n"),
        _ => ("404 Not Found".into(), Vec::new(), b"nothing here\n".to_vec()),
    }
}

/// Returns how often this path has been requested.
fn count(asked: &ReceivedRequest, counts: &Counts) -> usize {
    let mut counts = counts.lock().unwrap();
    let count = counts.entry(asked.path.clone()).or_default();
    *count += 1;
    *count
}

/// Header fields from a query such as `ETag=%22x%22&Warning=none`.
fn given_fields(query: &str) -> Vec<(&'static str, String)> {
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    // A few bytes for each request of a test.
    pairs.map(|(name, value)| (&*name.to_string().leak(), unescaped(value))).collect()
}

fn unescaped(text: &str) -> String {
    let mut pieces = text.split('%');
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        let (code, rest) = piece.split_at(2.min(piece.len()));
        bytes.extend(u8::from_str_radix(code, 16));
        bytes.extend(rest.as_bytes());
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the request as text, without parts that differ between versions of curl.
fn echo(asked: &ReceivedRequest) -> String {
    let mut out = format!("{} {} {}\n", asked.method, asked.path, asked.query);
    for (name, value) in &asked.headers {
        let shown = match name.to_ascii_lowercase().as_str() {
            // When to wait for a go-ahead has changed in curl 8.
            "host" | "expect" => continue,
            "user-agent" if value.starts_with("curl/") => "curl",
            "content-type" if value.starts_with("multipart/") => "multipart",
            "content-length"
                if asked.header("content-type").is_some_and(|kind| kind.starts_with("multipart")) =>
            {
                continue;
            }
            _ => value,
        };
        out.push_str(&format!("{name}: {shown}\n"));
    }
    let body = String::from_utf8_lossy(&asked.body);
    let boundary =
        asked.header("content-type").and_then(|kind| kind.split_once("boundary=")).map(|(_, own)| own);
    out.push_str(&boundary.map_or(body.to_string(), |own| body.replace(own, "BOUNDARY")));
    out.push('\n');
    out
}

fn private(asked: &ReceivedRequest) -> Reply {
    // me:secret
    if asked.header("authorization") == Some("Basic bWU6c2VjcmV0") {
        return ("200 OK".into(), Vec::new(), b"inside\n".to_vec());
    }
    let ask = vec![("WWW-Authenticate", "Basic realm=\"x\"".to_string())];
    ("401 Unauthorized".into(), ask, b"who are you\n".to_vec())
}

fn range(asked: &ReceivedRequest) -> Reply {
    let whole = b"0123456789abcdefghij";
    let Some((from, to)) =
        asked.header("range").and_then(|text| text.strip_prefix("bytes=")?.split_once('-'))
    else {
        return ("200 OK".into(), vec![("Accept-Ranges", "bytes".into())], whole.to_vec());
    };
    let from: usize = from.parse().unwrap_or(0);
    let to: usize = to.parse().unwrap_or(whole.len() - 1).min(whole.len() - 1);
    if from > to {
        return ("416 Range".into(), vec![("Content-Range", format!("bytes */{}", whole.len()))], Vec::new());
    }
    let place = format!("bytes {from}-{to}/{}", whole.len());
    ("206 Partial Content".into(), vec![("Content-Range", place)], whole[from..=to].to_vec())
}
