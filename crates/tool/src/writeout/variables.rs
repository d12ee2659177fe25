//! The variables of `--write-out`: one row each.

use super::outcome::Outcome;
use crate::bytes::Bytes;
use crate::raw::{Info, json};

pub struct Variable {
    pub name: &'static str,
    kind: Kind,
}

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
    OwnNumber(fn(&dyn Outcome) -> i64),
}

const fn row(name: &'static str, kind: Kind) -> Variable {
    Variable { name, kind }
}

/// Sorted by name, which is also the order in `%{json}`.
pub const ALL: &[Variable] = &[
    row("certs", Kind::Own(|outcome| Some(outcome.certificates().concat()))),
    row("conn_id", Kind::Number(Info::ConnId)),
    row("content_type", Kind::Text(Info::ContentType)),
    row("errormsg", Kind::Own(|outcome| outcome.error_text())),
    row("exitcode", Kind::OwnNumber(|outcome| outcome.exit_code().into())),
    row("filename_effective", Kind::Own(|outcome| outcome.file_name())),
    row("ftp_entry_path", Kind::Text(Info::FtpEntryPath)),
    row("http_code", Kind::Code(Info::ResponseCode)),
    row("http_connect", Kind::Code(Info::HttpConnectcode)),
    row("http_version", Kind::Own(http_version)),
    row("local_ip", Kind::Text(Info::LocalIp)),
    row("local_port", Kind::Number(Info::LocalPort)),
    row("method", Kind::Text(Info::EffectiveMethod)),
    row("num_certs", Kind::OwnNumber(|outcome| outcome.certificates().len() as i64)),
    row("num_connects", Kind::Number(Info::NumConnects)),
    row("num_headers", Kind::OwnNumber(|outcome| outcome.header_count())),
    row("num_redirects", Kind::Number(Info::RedirectCount)),
    row("num_retries", Kind::OwnNumber(|outcome| outcome.retries())),
    row("proxy_ssl_verify_result", Kind::Number(Info::ProxySslVerifyresult)),
    row("proxy_used", Kind::Number(Info::UsedProxy)),
    row("redirect_url", Kind::Text(Info::RedirectUrl)),
    row("referer", Kind::Text(Info::Referer)),
    row("remote_ip", Kind::Text(Info::PrimaryIp)),
    row("remote_port", Kind::Number(Info::PrimaryPort)),
    row("response_code", Kind::Code(Info::ResponseCode)),
    row("scheme", Kind::Text(Info::Scheme)),
    row("size_delivered", Kind::Number(Info::SizeDelivered)),
    row("size_download", Kind::Number(Info::SizeDownloadT)),
    row("size_header", Kind::Number(Info::HeaderSize)),
    row("size_request", Kind::Number(Info::RequestSize)),
    row("size_upload", Kind::Number(Info::SizeUploadT)),
    row("speed_download", Kind::Number(Info::SpeedDownloadT)),
    row("speed_upload", Kind::Number(Info::SpeedUploadT)),
    row("ssl_verify_result", Kind::Number(Info::SslVerifyresult)),
    row("time_appconnect", Kind::Time(Info::AppconnectTimeT)),
    row("time_connect", Kind::Time(Info::ConnectTimeT)),
    row("time_namelookup", Kind::Time(Info::NamelookupTimeT)),
    row("time_posttransfer", Kind::Time(Info::PosttransferTimeT)),
    row("time_pretransfer", Kind::Time(Info::PretransferTimeT)),
    row("time_queue", Kind::Time(Info::QueueTimeT)),
    row("time_redirect", Kind::Time(Info::RedirectTimeT)),
    row("time_starttransfer", Kind::Time(Info::StarttransferTimeT)),
    row("time_total", Kind::Time(Info::TotalTimeT)),
    row("tls_earlydata", Kind::Number(Info::EarlyDataSentT)),
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
    row("url_effective", Kind::Text(Info::EffectiveUrl)),
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
    row("xfer_id", Kind::Number(Info::XferId)),
];

/// Variables that curl does not have: in `%{json}` only if they have a value.
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
            Kind::Time(info) => outcome.number(info).map(|micros| seconds(micros).into_bytes()),
            Kind::Number(info) => outcome.number(info).map(decimal),
            Kind::OwnNumber(read) => Some(decimal(read(outcome))),
            _ => self.text(outcome),
        }
        .unwrap_or_default()
    }

    /// Writes the value that `%{json}` shows; `null` where there is none.
    pub fn write_json(&self, outcome: &dyn Outcome, json: &mut json::Writer) {
        let number = match self.kind {
            Kind::Code(info) | Kind::Number(info) => outcome.number(info).map(|number| number.to_string()),
            Kind::Time(info) => outcome.number(info).map(seconds),
            Kind::OwnNumber(read) => Some(read(outcome).to_string()),
            _ => {
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
            Kind::Own(read) => read(outcome),
            _ => None,
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
