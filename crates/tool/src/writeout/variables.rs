//! The variables of `--write-out`: one row each.

use super::outcome::Outcome;
use crate::bytes::Bytes;
use crate::text::json_escape;

pub struct Variable {
    pub name: &'static str,
    kind: Kind,
}

enum Kind {
    Text(&'static str),
    Number(&'static str),
    /// Three digits at least.
    Code(&'static str),
    /// Microseconds, shown as seconds.
    Time(&'static str),
    Url(&'static str),
    EffectiveUrl(&'static str),
    Own(fn(&dyn Outcome) -> Option<Bytes>),
    OwnNumber(fn(&dyn Outcome) -> i64),
}

const fn row(name: &'static str, kind: Kind) -> Variable {
    Variable { name, kind }
}

/// In the order of their names, which is that of `%{json}`.
pub const ALL: &[Variable] = &[
    row("certs", Kind::Own(|outcome| Some(outcome.certificates().concat()))),
    row("conn_id", Kind::Number("CONN_ID")),
    row("content_type", Kind::Text("CONTENT_TYPE")),
    row("errormsg", Kind::Own(|outcome| outcome.error_text())),
    row("exitcode", Kind::OwnNumber(|outcome| outcome.exit_code().into())),
    row("filename_effective", Kind::Own(|outcome| outcome.file_name())),
    row("ftp_entry_path", Kind::Text("FTP_ENTRY_PATH")),
    row("http_code", Kind::Code("RESPONSE_CODE")),
    row("http_connect", Kind::Code("HTTP_CONNECTCODE")),
    row("http_version", Kind::Own(http_version)),
    row("local_ip", Kind::Text("LOCAL_IP")),
    row("local_port", Kind::Number("LOCAL_PORT")),
    row("method", Kind::Text("EFFECTIVE_METHOD")),
    row("num_certs", Kind::OwnNumber(|outcome| outcome.certificates().len() as i64)),
    row("num_connects", Kind::Number("NUM_CONNECTS")),
    row("num_headers", Kind::OwnNumber(|outcome| outcome.header_count())),
    row("num_redirects", Kind::Number("REDIRECT_COUNT")),
    row("num_retries", Kind::OwnNumber(|outcome| outcome.retries())),
    row("proxy_ssl_verify_result", Kind::Number("PROXY_SSL_VERIFYRESULT")),
    row("proxy_used", Kind::Number("USED_PROXY")),
    row("redirect_url", Kind::Text("REDIRECT_URL")),
    row("referer", Kind::Text("REFERER")),
    row("remote_ip", Kind::Text("PRIMARY_IP")),
    row("remote_port", Kind::Number("PRIMARY_PORT")),
    row("response_code", Kind::Code("RESPONSE_CODE")),
    row("scheme", Kind::Text("SCHEME")),
    row("size_delivered", Kind::Number("SIZE_DELIVERED")),
    row("size_download", Kind::Number("SIZE_DOWNLOAD_T")),
    row("size_header", Kind::Number("HEADER_SIZE")),
    row("size_request", Kind::Number("REQUEST_SIZE")),
    row("size_upload", Kind::Number("SIZE_UPLOAD_T")),
    row("speed_download", Kind::Number("SPEED_DOWNLOAD_T")),
    row("speed_upload", Kind::Number("SPEED_UPLOAD_T")),
    row("ssl_verify_result", Kind::Number("SSL_VERIFYRESULT")),
    row("time_appconnect", Kind::Time("APPCONNECT_TIME_T")),
    row("time_connect", Kind::Time("CONNECT_TIME_T")),
    row("time_namelookup", Kind::Time("NAMELOOKUP_TIME_T")),
    row("time_posttransfer", Kind::Time("POSTTRANSFER_TIME_T")),
    row("time_pretransfer", Kind::Time("PRETRANSFER_TIME_T")),
    row("time_queue", Kind::Time("QUEUE_TIME_T")),
    row("time_redirect", Kind::Time("REDIRECT_TIME_T")),
    row("time_starttransfer", Kind::Time("STARTTRANSFER_TIME_T")),
    row("time_total", Kind::Time("TOTAL_TIME_T")),
    row("tls_earlydata", Kind::Number("EARLYDATA_SENT_T")),
    row("url", Kind::Own(|outcome| outcome.given_url())),
    row("url.fragment", Kind::Url("fragment")),
    row("url.host", Kind::Url("host")),
    row("url.options", Kind::Url("options")),
    row("url.password", Kind::Url("password")),
    row("url.path", Kind::Url("path")),
    row("url.port", Kind::Url("port")),
    row("url.query", Kind::Url("query")),
    row("url.scheme", Kind::Url("scheme")),
    row("url.user", Kind::Url("user")),
    row("url.zoneid", Kind::Url("zoneid")),
    row("url_effective", Kind::Text("EFFECTIVE_URL")),
    row("urle.fragment", Kind::EffectiveUrl("fragment")),
    row("urle.host", Kind::EffectiveUrl("host")),
    row("urle.options", Kind::EffectiveUrl("options")),
    row("urle.password", Kind::EffectiveUrl("password")),
    row("urle.path", Kind::EffectiveUrl("path")),
    row("urle.port", Kind::EffectiveUrl("port")),
    row("urle.query", Kind::EffectiveUrl("query")),
    row("urle.scheme", Kind::EffectiveUrl("scheme")),
    row("urle.user", Kind::EffectiveUrl("user")),
    row("urle.zoneid", Kind::EffectiveUrl("zoneid")),
    row("urlnum", Kind::OwnNumber(|outcome| outcome.url_number() as i64)),
    row("xfer_id", Kind::Number("XFER_ID")),
];

/// What curl does not have: in `%{json}` only where there is something to tell.
pub const EXTRA: &[Variable] = &[row("cache", Kind::Own(|outcome| outcome.cache()))];

/// Names that switch or print more than one fact.
pub const NAMES: &[&str] = &["header_json", "json", "onerror", "stderr", "stdout"];

pub fn find(name: &[u8]) -> Option<&'static Variable> {
    ALL.iter().chain(EXTRA).find(|variable| variable.name.as_bytes() == name)
}

impl Variable {
    /// As `%{name}` shows it.
    pub fn plain(&self, outcome: &dyn Outcome) -> Bytes {
        match self.kind {
            Kind::Code(info) => outcome.number(info).map(|code| format!("{code:03}").into_bytes()),
            Kind::Time(info) => outcome.number(info).map(seconds),
            Kind::Number(info) => outcome.number(info).map(decimal),
            Kind::OwnNumber(read) => Some(decimal(read(outcome))),
            _ => self.text(outcome),
        }
        .unwrap_or_default()
    }

    /// As it stands in `%{json}`.
    pub fn json(&self, outcome: &dyn Outcome) -> Bytes {
        let number = match self.kind {
            Kind::Code(info) | Kind::Number(info) => outcome.number(info).map(decimal),
            Kind::Time(info) => outcome.number(info).map(seconds),
            Kind::OwnNumber(read) => Some(decimal(read(outcome))),
            _ => {
                let quoted = |text: Bytes| [b"\"", json_escape(&text, false).as_slice(), b"\""].concat();
                self.text(outcome).map(quoted)
            }
        };
        number.unwrap_or_else(|| b"null".to_vec())
    }

    pub fn text(&self, outcome: &dyn Outcome) -> Option<Bytes> {
        match self.kind {
            Kind::Text(info) => outcome.text(info),
            Kind::Url(part) => outcome.url_part(part, false),
            Kind::EffectiveUrl(part) => outcome.url_part(part, true),
            Kind::Own(read) => read(outcome),
            _ => None,
        }
    }
}

fn decimal(number: i64) -> Bytes {
    number.to_string().into_bytes()
}

fn seconds(micros: i64) -> Bytes {
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000).into_bytes()
}

/// CURL_HTTP_VERSION_ numbers.
fn http_version(outcome: &dyn Outcome) -> Option<Bytes> {
    let version = match outcome.number("HTTP_VERSION")? {
        1 => "1",
        2 => "1.1",
        3 => "2",
        30 => "3",
        _ => "0",
    };
    Some(version.into())
}
