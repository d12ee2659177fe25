//! The variables of `--write-out`: one row each.

use super::outcome::Outcome;
use crate::bytes::Bytes;
use crate::raw::{Info, json};

#[derive(Clone, Copy)]
pub struct Variable {
    pub name: &'static str,
    /// A sentence for the manual.
    pub about: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Text(Info),
    Number(Info),
    /// Three digits at least.
    Code(Info),
    /// Microseconds, shown as seconds.
    Time(Info),
    Url(&'static str),
    EffectiveUrl(&'static str),
    Own(fn(&dyn Outcome) -> Option<Bytes>),
    /// A text that is JSON.
    OwnJson(fn(&dyn Outcome) -> Option<Bytes>),
    OwnNumber(fn(&dyn Outcome) -> i64),
}

const fn row(name: &'static str, about: &'static str, kind: Kind) -> Variable {
    Variable { name, about, kind }
}

/// Rows for the parts of a URL, under this prefix.
macro_rules! parts {
    ($prefix:literal, $kind:path, $url:literal) => {
        [
            row(concat!($prefix, ".fragment"), concat!("The fragment of ", $url), $kind("fragment")),
            row(concat!($prefix, ".host"), concat!("The host name of ", $url), $kind("host")),
            row(
                concat!($prefix, ".options"),
                concat!("The login options (the part after a semicolon in the login) of ", $url),
                $kind("options"),
            ),
            row(concat!($prefix, ".password"), concat!("The password of ", $url), $kind("password")),
            row(concat!($prefix, ".path"), concat!("The path of ", $url), $kind("path")),
            row(
                concat!($prefix, ".port"),
                concat!("The port, also if it is the default, of ", $url),
                $kind("port"),
            ),
            row(concat!($prefix, ".query"), concat!("The query of ", $url), $kind("query")),
            row(concat!($prefix, ".scheme"), concat!("The scheme of ", $url), $kind("scheme")),
            row(concat!($prefix, ".user"), concat!("The user name of ", $url), $kind("user")),
            row(
                concat!($prefix, ".zoneid"),
                concat!("The zone of an IPv6 address of ", $url),
                $kind("zoneid"),
            ),
        ]
    };
}

const GIVEN_URL_PARTS: [Variable; 10] = parts!("url", Kind::Url, "the given URL.");
const EFFECTIVE_URL_PARTS: [Variable; 10] = parts!("urle", Kind::EffectiveUrl, "the URL that was used last.");

/// All variables that curl has, sorted by name, which is also the order in `%{json}`.
pub static ALL: [Variable; EARLY.len() + 10 + 1 + 10 + 2] = {
    let mut all = [EARLY[0]; EARLY.len() + 10 + 1 + 10 + 2];
    let runs: [&[Variable]; 5] = [EARLY, &GIVEN_URL_PARTS, &EFFECTIVE_URL, &EFFECTIVE_URL_PARTS, &LATE];
    let (mut to, mut run) = (0, 0);
    while run < runs.len() {
        let mut at = 0;
        while at < runs[run].len() {
            all[to] = runs[run][at];
            (to, at) = (to + 1, at + 1);
        }
        run += 1;
    }
    all
};

/// The variables before the parts of URLs.
const EARLY: &[Variable] = &[
    row(
        "certs",
        "The server's certificates, fields as text and the whole as PEM; empty without TLS.",
        Kind::Own(|outcome| Some(outcome.certificates().concat())),
    ),
    row(
        "conn_id",
        "The number of the connection that the transfer used last, counted from 0; -1 if it had none.",
        Kind::Number(Info::ConnId),
    ),
    row("content_type", "The Content-Type field of the reply.", Kind::Text(Info::ContentType)),
    row(
        "errormsg",
        "The error message; empty if the transfer succeeded.",
        Kind::Own(|outcome| outcome.error_text()),
    ),
    row(
        "exitcode",
        "The exit code of this transfer; 0 means success.",
        Kind::OwnNumber(|outcome| outcome.exit_code().into()),
    ),
    row(
        "filename_effective",
        "The name of the file that the body was written to, for example the one that -O chose.",
        Kind::Own(|outcome| outcome.file_name()),
    ),
    row("ftp_entry_path", "The directory in which an FTP login starts.", Kind::Text(Info::FtpEntryPath)),
    row("http_code", "An older name of response_code.", Kind::Code(Info::ResponseCode)),
    row(
        "http_connect",
        "The status code of the proxy's last reply to CONNECT; 000 if there was none.",
        Kind::Code(Info::HttpConnectCode),
    ),
    row(
        "http_version",
        "The HTTP version of the reply: 1, 1.1, 2 or 3; 0 if none was received.",
        Kind::Own(http_version),
    ),
    row("local_ip", "The local address of the connection.", Kind::Text(Info::LocalIp)),
    row("local_port", "The local port of the connection.", Kind::Number(Info::LocalPort)),
    row("method", "The method of the last request, for example GET.", Kind::Text(Info::EffectiveMethod)),
    row(
        "num_certs",
        "The number of certificates that the server sent.",
        Kind::OwnNumber(|outcome| outcome.certificates().len() as i64),
    ),
    row(
        "num_connects",
        "The number of new connections that the transfer made; 0 means that it reused one.",
        Kind::Number(Info::NumConnects),
    ),
    row(
        "num_headers",
        "The number of header fields in the last reply.",
        Kind::OwnNumber(|outcome| outcome.header_count()),
    ),
    row("num_redirects", "The number of redirects that were followed.", Kind::Number(Info::RedirectCount)),
    row(
        "num_retries",
        "The number of times that --retry repeated the transfer.",
        Kind::OwnNumber(|outcome| outcome.retries()),
    ),
    row(
        "proxy_ssl_verify_result",
        "The result of verifying an HTTPS proxy's certificate; 0 means valid.",
        Kind::Number(Info::ProxySslVerifyResult),
    ),
    row("proxy_used", "1 if the transfer used a proxy, otherwise 0.", Kind::Number(Info::UsedProxy)),
    row(
        "redirect_url",
        "The URL that a redirect leads to; useful without -L, which would follow it.",
        Kind::Text(Info::RedirectUrl),
    ),
    row("referer", "The Referer field of the request.", Kind::Text(Info::Referer)),
    row("remote_ip", "The address of the server, or of the proxy.", Kind::Text(Info::PrimaryIp)),
    row("remote_port", "The port of the server, or of the proxy.", Kind::Number(Info::PrimaryPort)),
    row(
        "response_code",
        "The last status code of the protocol, in three digits; 000 if there was none.",
        Kind::Code(Info::ResponseCode),
    ),
    row("scheme", "The scheme of the URL that was used last, for example https.", Kind::Text(Info::Scheme)),
    row(
        "size_delivered",
        "The bytes that were written to the output, after decoding.",
        Kind::Number(Info::SizeDelivered),
    ),
    row(
        "size_download",
        "The bytes of the body that were received, before decoding.",
        Kind::Number(Info::SizeDownloadT),
    ),
    row("size_header", "The bytes of all received header fields.", Kind::Number(Info::HeaderSize)),
    row(
        "size_request",
        "The bytes of all requests that were sent for this transfer.",
        Kind::Number(Info::RequestSize),
    ),
    row("size_upload", "The bytes of the body that were sent.", Kind::Number(Info::SizeUploadT)),
    row(
        "speed_download",
        "The average download speed of the whole transfer, in bytes per second.",
        Kind::Number(Info::SpeedDownloadT),
    ),
    row(
        "speed_upload",
        "The average upload speed of the whole transfer, in bytes per second.",
        Kind::Number(Info::SpeedUploadT),
    ),
    row(
        "ssl_verify_result",
        "The result of verifying the server's certificate; 0 means that it is valid.",
        Kind::Number(Info::SslVerifyResult),
    ),
    row(
        "time_appconnect",
        "Seconds from the start until the TLS or SSH handshake was complete.",
        Kind::Time(Info::AppConnectTimeT),
    ),
    row(
        "time_connect",
        "Seconds from the start until the TCP connection was established.",
        Kind::Time(Info::ConnectTimeT),
    ),
    row(
        "time_namelookup",
        "Seconds from the start until the name was resolved.",
        Kind::Time(Info::NameLookupTimeT),
    ),
    row(
        "time_posttransfer",
        "Seconds from the start until the last byte of the request was sent.",
        Kind::Time(Info::PostTransferTimeT),
    ),
    row(
        "time_pretransfer",
        "Seconds from the start until the request was about to be sent.",
        Kind::Time(Info::PreTransferTimeT),
    ),
    row(
        "time_queue",
        "Seconds that the transfer waited for its place before it started.",
        Kind::Time(Info::QueueTimeT),
    ),
    row(
        "time_redirect",
        "Seconds that all requests before the last redirect took.",
        Kind::Time(Info::RedirectTimeT),
    ),
    row(
        "time_starttransfer",
        "Seconds from the start until the first byte of the reply arrived.",
        Kind::Time(Info::StartTransferTimeT),
    ),
    row("time_total", "Seconds that the whole transfer took.", Kind::Time(Info::TotalTimeT)),
    row(
        "tls_earlydata",
        "The bytes that were sent as early data of TLS; negative if the server refused them.",
        Kind::Number(Info::EarlyDataSentT),
    ),
    row("url", "The URL as it was given.", Kind::Own(|outcome| outcome.given_url())),
];

const EFFECTIVE_URL: [Variable; 1] = [row(
    "url_effective",
    "The URL that was used last, after all redirects.",
    Kind::Text(Info::EffectiveUrl),
)];

const LATE: [Variable; 2] = [
    row(
        "urlnum",
        "The number of this URL on the command line, counted from 0.",
        Kind::OwnNumber(|outcome| outcome.url_number() as i64),
    ),
    row("xfer_id", "The number of the transfer, counted from 0.", Kind::Number(Info::XferId)),
];

/// Variables that curl does not have: in `%{json}` only if they have a value.
pub const EXTRA: &[Variable] = &[
    row(
        "cache",
        "With --cache: hit, revalidated, completed, stale, miss or bypass; empty without it.",
        Kind::Own(|outcome| outcome.cache()),
    ),
    row(
        REQUESTS,
        "The requests of the transfer as a JSON array: each redirect and each round of a login has \
         method, URL, status, and when it began and ended, with its stages (name, connect, tls, \
         prepare, send, server, receive), in milliseconds from the start of the transfer.",
        Kind::OwnJson(|outcome| outcome.requests()),
    ),
    row(
        WHY,
        "The decisions of the transfer and their reasons, as with --why.",
        Kind::Own(|outcome| outcome.why()),
    ),
];

/// The variables for which a transfer must keep its reasons.
pub const WHY: &str = "why";
pub const REQUESTS: &str = "requests";

/// Names that switch or print more than one fact, and a sentence for the manual.
pub const NAMES: &[(&str, &str)] = &[
    ("header_json", "All header fields of the last reply as a JSON object."),
    ("json", "All variables as one JSON object."),
    ("onerror", "The rest of the format is written only if the transfer failed."),
    ("stderr", "The rest of the format goes to standard error."),
    ("stdout", "The rest of the format goes to standard output again."),
];

pub fn find(name: &[u8]) -> Option<&'static Variable> {
    ALL.iter().chain(EXTRA).find(|variable| variable.name.as_bytes() == name)
}

impl Variable {
    /// Returns the value as `%{name}` shows it.
    pub fn plain(&self, outcome: &dyn Outcome) -> Bytes {
        match self.kind {
            Kind::Code(info) => outcome.number(info).map(|code| format!("{code:03}").into_bytes()),
            Kind::Time(info) => outcome.number(info).map(|micros| seconds(micros).into_bytes()),
            Kind::Number(info) => outcome.number(info).map(decimal),
            Kind::OwnNumber(read) => Some(decimal(read(outcome))),
            Kind::Text(_) | Kind::Url(_) | Kind::EffectiveUrl(_) | Kind::Own(_) | Kind::OwnJson(_) => {
                self.text(outcome)
            }
        }
        .unwrap_or_default()
    }

    /// Writes the value that `%{json}` shows; `null` where there is none.
    pub fn write_json(&self, outcome: &dyn Outcome, json: &mut json::Writer) {
        let number = match self.kind {
            Kind::Code(info) | Kind::Number(info) => outcome.number(info).map(|number| number.to_string()),
            Kind::Time(info) => outcome.number(info).map(seconds),
            Kind::OwnNumber(read) => Some(read(outcome).to_string()),
            Kind::OwnJson(read) => read(outcome).map(|text| String::from_utf8_lossy(&text).into_owned()),
            Kind::Text(_) | Kind::Url(_) | Kind::EffectiveUrl(_) | Kind::Own(_) => {
                return match self.text(outcome) {
                    Some(text) => json.text(text),
                    None => json.null(),
                };
            }
        };
        match number {
            Some(number) => json.number(number),
            None => json.null(),
        }
    }

    pub fn text(&self, outcome: &dyn Outcome) -> Option<Bytes> {
        match self.kind {
            Kind::Text(info) => outcome.text(info),
            Kind::Url(part) => outcome.url_part(part, false),
            Kind::EffectiveUrl(part) => outcome.url_part(part, true),
            Kind::Own(read) | Kind::OwnJson(read) => read(outcome),
            Kind::Number(_) | Kind::Code(_) | Kind::Time(_) | Kind::OwnNumber(_) => None,
        }
    }
}

fn decimal(number: i64) -> Bytes {
    number.to_string().into_bytes()
}

fn seconds(micros: i64) -> String {
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

/// CURL_HTTP_VERSION_ numbers.
fn http_version(outcome: &dyn Outcome) -> Option<Bytes> {
    let version = match outcome.number(Info::HttpVersion)? {
        1 => "1",
        2 => "1.1",
        3 => "2",
        30 => "3",
        _ => "0",
    };
    Some(version.into())
}
