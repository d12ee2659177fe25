//! Infos (curl_easy_getinfo(3)): one arm for each row of the table, for C, Rust, Python and the command
//! line tool alike.

use std::time::Instant;

use net::tls::backend;
use tables::{EasyOption as O, Info as I, Scheme};

use super::{Nanos, TransferInfo};
use crate::Easy;
use crate::settings::Text;

/// Where certificates are looked for when the application names no place; on Windows that is the system's
/// store.
pub const CAINFO: Option<&str> =
    if cfg!(windows) { None } else { Some("/etc/ssl/certs/ca-certificates.crt") };
/// The folder that belongs to [`CAINFO`].
pub const CAPATH: Option<&str> = if cfg!(windows) { None } else { Some("/etc/ssl/certs") };

/// The value of an info.
#[derive(Clone, Debug)]
pub enum Fact {
    /// A count, a size, a code or a descriptor.
    Number(i64),
    /// A length of time: seconds in a `double`, microseconds in a `curl_off_t`.
    Time(Nanos),
    /// A text that belongs to the handle.
    Text(Option<Text>),
    /// A text that was put together for this call.
    OwnedText(Vec<u8>),
    /// A text of this build.
    Constant(Option<&'static str>),
    /// Several texts.
    List(Vec<Vec<u8>>),
    /// Fields of certificates, a list for each.
    Certificates(Vec<Vec<Text>>),
    /// An object of the TLS library.
    Tls {
        /// Whether a transfer is under way on a connection with TLS.
        in_use: bool,
        /// The address of the object of the system's library, where that speaks.
        object: Option<usize>,
    },
    /// A pointer of the application, which the C boundary stores.
    Application,
}

impl Fact {
    /// Returns a number as it is and a time in microseconds; 0 for any other value.
    pub fn number(&self) -> i64 {
        match self {
            Fact::Number(number) => *number,
            Fact::Time(time) => time.as_micros() as i64, // thousandths of a u64 fit
            Fact::Text(_) | Fact::OwnedText(_) | Fact::Constant(_) | Fact::List(_) => 0,
            Fact::Certificates(_) | Fact::Tls { .. } | Fact::Application => 0,
        }
    }

    /// Returns a number as it is and a time in seconds; 0 for any other value.
    pub fn real(&self) -> f64 {
        match self {
            Fact::Number(number) => *number as f64,
            Fact::Time(time) => time.as_secs_f64(),
            Fact::Text(_) | Fact::OwnedText(_) | Fact::Constant(_) | Fact::List(_) => 0.0,
            Fact::Certificates(_) | Fact::Tls { .. } | Fact::Application => 0.0,
        }
    }

    /// Returns a length of time; none for any other value.
    pub fn time(&self) -> Nanos {
        if let Fact::Time(time) = self { *time } else { Nanos::default() }
    }

    /// Returns a text, where there is one.
    pub fn text(&self) -> Option<&[u8]> {
        match self {
            Fact::Text(text) => text.as_deref(),
            Fact::OwnedText(text) => Some(text),
            Fact::Constant(text) => text.map(str::as_bytes),
            Fact::Number(_) | Fact::Time(_) | Fact::List(_) => None,
            Fact::Certificates(_) | Fact::Tls { .. } | Fact::Application => None,
        }
    }
}

/// Returns the value of an info: of the transfer under way, or of the last one.
// exhaustive: infos
pub fn get(easy: &Easy, info: I) -> Fact {
    let state = easy.state();
    let found = state.info.borrow();
    let settings = || state.settings.borrow();
    match info {
        I::EffectiveUrl => Fact::Text(Some(state.effective_url())),
        I::ContentType => Fact::Text(found.content_type.clone()),
        I::FtpEntryPath => Fact::Text(found.rare.ftp_entry_path.clone()),
        I::RedirectUrl => Fact::Text(found.rare.redirect_url.clone()),
        I::PrimaryIp => Fact::OwnedText(found.ends.primary_ip().into_bytes()),
        I::LocalIp => Fact::OwnedText(found.ends.local_ip().into_bytes()),
        I::Scheme => Fact::Constant(found.scheme.map(Scheme::name)),
        I::EffectiveMethod => Fact::OwnedText(state.effective_method()),
        I::Referer => Fact::Text(found.rare.referer.clone().or_else(|| settings().text(O::Referer))),
        I::CaInfo => Fact::Constant(CAINFO),
        I::CaPath => Fact::Constant(CAPATH),
        I::RtspSessionId => Fact::Text(settings().text(O::RtspSessionId)),
        I::Private => Fact::Application,
        I::ResponseCode => Fact::Number(found.response_code),
        I::HttpConnectCode => Fact::Number(found.rare.connect_code),
        I::HeaderSize => Fact::Number(found.header_size),
        I::RequestSize => Fact::Number(found.request_size),
        I::SslVerifyResult => Fact::Number(found.rare.verify_result),
        I::ProxySslVerifyResult => Fact::Number(found.rare.proxy_verify_result),
        I::FileTime | I::FileTimeT => Fact::Number(found.file_time),
        I::RedirectCount => Fact::Number(found.redirect_count),
        I::HttpAuthAvail => Fact::Number(found.rare.auth_available),
        I::ProxyAuthAvail => Fact::Number(found.rare.proxy_auth_available),
        I::HttpAuthUsed => Fact::Number(found.rare.auth_used),
        I::ProxyAuthUsed => Fact::Number(found.rare.proxy_auth_used),
        I::OsErrno => Fact::Number(state.os_errno.get()),
        I::NumConnects => Fact::Number(found.connects),
        I::LastSocket | I::ActiveSocket => Fact::Number(found.open_socket()),
        I::ConditionUnmet => Fact::Number(found.condition_unmet.into()),
        I::PrimaryPort => Fact::Number(found.ends.primary_port().into()),
        I::LocalPort => Fact::Number(found.ends.local_port().into()),
        I::HttpVersion => Fact::Number(found.http_version),
        I::Protocol => Fact::Number(found.scheme.map_or(0, Scheme::bit) as i64),
        I::ProxyError => Fact::Number(found.rare.proxy_error),
        I::UsedProxy => Fact::Number(found.used_proxy.into()),
        I::RetryAfter => Fact::Number(found.rare.retry_after),
        I::XferId => Fact::Number(state.transfer_id.get()),
        I::ConnId => Fact::Number(found.attempted_connection),
        I::RtspClientCseq => Fact::Number(settings().long(O::RtspClientCseq)),
        I::RtspServerCseq => Fact::Number(settings().long(O::RtspServerCseq)),
        I::RtspCseqRecv => Fact::Number(state.rtsp_received.get()),
        I::SizeUpload | I::SizeUploadT => Fact::Number(found.uploaded),
        I::SizeDownload | I::SizeDownloadT => Fact::Number(found.downloaded),
        I::SizeDelivered => Fact::Number(found.delivered),
        I::SpeedDownload | I::SpeedDownloadT => Fact::Number(found.speed(found.downloaded)),
        I::SpeedUpload | I::SpeedUploadT => Fact::Number(found.speed(found.uploaded)),
        I::ContentLengthDownload | I::ContentLengthDownloadT => Fact::Number(found.download_total),
        I::ContentLengthUpload | I::ContentLengthUploadT => Fact::Number(found.upload_total),
        I::EarlyDataSentT => Fact::Number(found.rare.early_data),
        I::NameLookupTime | I::NameLookupTimeT => Fact::Time(found.name_lookup),
        I::ConnectTime | I::ConnectTimeT => Fact::Time(found.connect),
        I::AppConnectTime | I::AppConnectTimeT => Fact::Time(found.app_connect),
        I::PreTransferTime | I::PreTransferTimeT => Fact::Time(found.pre_transfer),
        I::PostTransferTimeT => Fact::Time(found.post_transfer),
        I::StartTransferTime | I::StartTransferTimeT => Fact::Time(found.start_transfer),
        I::RedirectTime | I::RedirectTimeT => Fact::Time(found.rare.redirect),
        I::QueueTimeT => Fact::Time(found.queued),
        // Inside a callback: the time until now.
        I::TotalTime | I::TotalTimeT if easy.in_transfer() => Fact::Time(found.since_start(Instant::now())),
        I::TotalTime | I::TotalTimeT => Fact::Time(found.total),
        I::SslEngines => Fact::List(backend::engines().into_iter().map(String::into_bytes).collect()),
        I::CookieList => {
            drop(found); // a share's lock function is the application's
            Fact::List(easy.cookies())
        }
        I::CertInfo => Fact::Certificates(found.rare.certificates.clone()),
        I::TlsSession => tls_object(easy, &found, 0),
        I::TlsSslPtr => tls_object(easy, &found, 1),
    }
}

/// Returns an object of the system's library for the connection in use: its context (0) or the connection
/// (1).
fn tls_object(easy: &Easy, found: &TransferInfo, which: usize) -> Fact {
    let in_use = easy.in_transfer() && found.secured;
    let object = found.rare.native_tls.filter(|_| in_use).map(|objects| objects[which]);
    Fact::Tls { in_use, object }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Callbacks;
    use std::rc::Rc;
    use tables::InfoKind;

    struct Nobody;

    impl Callbacks for Nobody {}

    /// C writes through a pointer whose type is determined by the row's kind.
    #[test]
    fn every_fact_fits_the_kind_of_its_row() {
        let easy = Easy::new(Rc::new(Nobody));
        for &info in I::ALL {
            let fact = get(&easy, info);
            let fits = match info.kind() {
                InfoKind::String => {
                    matches!(fact, Fact::Text(_) | Fact::OwnedText(_) | Fact::Constant(_) | Fact::Application)
                }
                InfoKind::Long | InfoKind::Socket => matches!(fact, Fact::Number(_)),
                InfoKind::Double | InfoKind::OffT => matches!(fact, Fact::Number(_) | Fact::Time(_)),
                InfoKind::SList => matches!(fact, Fact::List(_)),
                InfoKind::Ptr => matches!(fact, Fact::Certificates(_) | Fact::Tls { .. }),
            };
            assert!(fits, "{}: {fact:?}", info.name());
        }
    }

    #[test]
    fn facts_are_read_in_the_unit_of_their_type() {
        let time = Fact::Time(Nanos::LEAST);
        assert_eq!((time.number(), time.real(), time.text()), (1, 0.000_001, None));
        let number = Fact::Number(-1);
        assert_eq!((number.number(), number.real(), number.time()), (-1, -1.0, Nanos::default()));
        let texts = [Fact::Text(None), Fact::OwnedText(b"a".to_vec()), Fact::Constant(Some("b"))];
        assert_eq!(texts.each_ref().map(Fact::text), [None, Some(&b"a"[..]), Some(b"b")]);
        assert_eq!(texts.map(|text| (text.number(), text.real())), [(0, 0.0); 3]);
    }

    /// Infos report the results of a transfer, and settings if there is no result.
    #[test]
    fn facts_come_from_the_transfer_and_from_settings() {
        let easy = Easy::new(Rc::new(Nobody));
        easy.set_text(O::Url, Some(b"http://host/")).unwrap();
        easy.set_text(O::Referer, Some(b"http://from/")).unwrap();
        {
            let mut found = easy.state().info.borrow_mut();
            (found.response_code, found.uploaded, found.file_time) = (204, 5, -1);
            (found.total, found.scheme) =
                (Nanos::from(std::time::Duration::from_secs(2)), Some(Scheme::Http));
            found.rare.auth_used = 8;
        }
        let number = |info| get(&easy, info).number();
        let numbers = [I::ResponseCode, I::SizeUploadT, I::SpeedUploadT, I::FileTimeT, I::TotalTimeT];
        assert_eq!(numbers.map(number), [204, 5, 2, -1, 2_000_000]);
        assert_eq!((number(I::HttpAuthUsed), get(&easy, I::TotalTime).real()), (8, 2.0));
        let text = |info| get(&easy, info).text().map(|text| String::from_utf8_lossy(text).into_owned());
        let texts = [I::EffectiveUrl, I::Referer, I::Scheme, I::EffectiveMethod, I::ContentType].map(text);
        let expected = [Some("http://host/"), Some("http://from/"), Some("http"), Some("GET"), None];
        assert_eq!(texts.each_ref().map(Option::as_deref), expected);
    }
}
