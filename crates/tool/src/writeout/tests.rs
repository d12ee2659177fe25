//! Formats against a made-up transfer.

use super::*;
use crate::raw::Info;

struct Fixed {
    code: i32,
}

impl Outcome for Fixed {
    fn text(&self, info: Info) -> Option<Bytes> {
        (info == Info::ContentType).then(|| b"text/\"x\"".to_vec())
    }

    fn number(&self, info: Info) -> Option<i64> {
        match info {
            Info::ResponseCode => Some(7),
            Info::HttpVersion => Some(2),
            Info::TotalTimeT => Some(1_000_034),
            _ => None,
        }
    }

    fn url_part(&self, part: &str, effective: bool) -> Option<Bytes> {
        (part == "host").then(|| if effective { b"b".to_vec() } else { b"a".to_vec() })
    }

    fn headers(&self) -> Vec<(Bytes, Bytes, usize)> {
        let row =
            |name: &str, value: &str, request| (name.as_bytes().to_vec(), value.as_bytes().to_vec(), request);
        vec![row("X", "0", 0), row("Date", "now", 1), row("x", "1", 1), row("X", "2", 1)]
    }

    fn certificates(&self) -> Vec<Bytes> {
        vec![b"PEM\n".to_vec()]
    }

    fn requests(&self) -> Option<Bytes> {
        None
    }

    fn exit_code(&self) -> i32 {
        self.code
    }

    fn error_text(&self) -> Option<Bytes> {
        None
    }

    fn file_name(&self) -> Option<Bytes> {
        Some(b"out".to_vec())
    }

    fn given_url(&self) -> Option<Bytes> {
        Some(b"http://a/".to_vec())
    }

    fn url_number(&self) -> usize {
        3
    }

    fn retries(&self) -> i64 {
        1
    }

    fn header_count(&self) -> i64 {
        4
    }

    fn why(&self) -> Option<Bytes> {
        None
    }

    fn cache(&self) -> Option<Bytes> {
        (self.code == 7).then(|| b"hit".to_vec())
    }

    fn version(&self) -> Bytes {
        b"libcurl/8".to_vec()
    }
}

#[derive(Default)]
struct Log(String);

impl Streams for Log {
    fn write(&mut self, bytes: &[u8]) {
        self.0.push_str(std::str::from_utf8(bytes).unwrap());
    }

    fn to_stdout(&mut self) {
        self.0.push_str("<out>");
    }

    fn to_stderr(&mut self) {
        self.0.push_str("<err>");
    }

    fn to_file(&mut self, name: &[u8], append: bool) {
        self.0.push_str(&format!("<{}{}>", if append { ">>" } else { "" }, String::from_utf8_lossy(name)));
    }

    fn remark(&mut self, line: &str) {
        self.0.push_str(&format!("<!{line}>"));
    }
}

fn shown(format: &str, code: i32) -> String {
    let mut log = Log::default();
    write_out(format.as_bytes(), &Fixed { code }, &mut log);
    log.0
}

#[test]
fn plain_variables() {
    assert_eq!(shown("%{http_code} %{response_code}\\n", 0), "007 007\n");
    assert_eq!(shown("%{http_version} %{time_total} %{http_code}", 0), "1.1 1.000034 007");
    assert_eq!(shown("%{url.host}%{urle.host}%{url.query}%{local_ip}|", 0), "ab|");
    assert_eq!(shown("%{exitcode} %{num_certs} %{urlnum} %{num_retries} %{certs}", 9), "9 1 3 1 PEM\n");
}

#[test]
fn odd_syntax_is_passed_on() {
    assert_eq!(shown("100%% %x %", 0), "100% %x %");
    assert_eq!(shown("%{http_code", 0), "%{http_code");
    assert_eq!(shown("a\\qb\\", 0), "a\\qb\\");
    assert_eq!(shown("%header{x", 0), "%header{x");
    assert_eq!(shown("[%{nonsense}]", 0), "[<!curl: unknown --write-out variable: 'nonsense'>]");
    assert_eq!(shown("%{HTTP_CODE}", 0), "<!curl: unknown --write-out variable: 'HTTP_CODE'>");
}

#[test]
fn switches() {
    assert_eq!(shown("a%{stderr}b%{stdout}c%output{f}d%output{>>g}e", 0), "a<err>b<out>c<f>d<>>g>e");
    assert_eq!(shown("a%{onerror}b", 0), "a");
    assert_eq!(shown("a%{onerror}b", 1), "ab");
}

#[test]
fn headers() {
    assert_eq!(shown("%header{x} %header{none}%header{date}", 0), "1 now");
    assert_eq!(shown("%header{x:all:-{\\}-}", 0), "0-{}-1-{}-2");
    assert_eq!(shown("%header{x:all:\\n\\q}|%header{x:all:}", 0), "0\n\\q1\n\\q2|012");
    assert_eq!(shown("[%header{x:all}%header{x:}%header{x:1}]", 0), "[]");
    assert_eq!(shown("%{header_json}", 0), "{\"date\":[\"now\"],\n\"x\":[\"1\",\"2\"]\n}");
}

#[test]
fn json_holds_everything() {
    let json = shown("%{json}", 0);
    assert!(json.starts_with("{\"certs\":\"PEM\\n\",\"conn_id\":null,\"content_type\":\"text/\\\"x\\\"\","));
    assert!(json.contains("\"http_code\":7,") && json.contains("\"time_total\":1.000034,"));
    assert!(json.ends_with("\"curl_version\":\"libcurl/8\"}"));
}

#[test]
fn formats_that_show_certificates() {
    for format in ["%{certs}", "a%{num_certs}b", "%{stderr}%{json}"] {
        assert!(asks_for_certificates(format.as_bytes()), "{format}");
    }
    for format in ["", "%{http_code} %{time_total}", "certs", "%{certs", "%header{certs}"] {
        assert!(!asks_for_certificates(format.as_bytes()), "{format}");
    }
}

#[test]
fn the_names_are_those_of_curl() {
    let shared = std::env::var_os("WARMWIRE_SHARED").unwrap_or_else(|| "../../../shared".into());
    let path = std::path::Path::new(&shared).join("facts/writeout_variables.txt");
    let Ok(facts) = std::fs::read_to_string(path) else { return };
    let mut own: Vec<&str> = variables::ALL.iter().map(|variable| variable.name).collect();
    own.extend(variables::NAMES.iter().map(|(name, _)| name));
    own.sort_unstable();
    assert_eq!(own, facts.lines().filter(|line| !line.is_empty()).collect::<Vec<_>>());
}
