//! The results of a transfer, for curl_easy_getinfo. Reset for each transfer.

mod get;

use std::borrow::Cow;
use std::fmt::{self, Debug, Formatter};
use std::ops::AddAssign;
use std::time::{Duration, Instant};

use net::Presence;
use tables::Scheme;

use crate::rare::{Nothing, Rare};
use crate::settings::Text;

pub use get::{CAINFO, CAPATH, Fact, get};

/// A duration in nanoseconds: half the size of a [`Duration`], and enough for 584 years. Each of ten thousand
/// transfers has eight.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Nanos(u64);

impl Nanos {
    /// The shortest duration that is reported as nonzero: a microsecond.
    pub const LEAST: Nanos = Nanos(1_000);

    /// Returns whether it is zero, which mostly means that the event has not happened.
    pub fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Whole microseconds.
    pub fn as_micros(self) -> u64 {
        self.0 / 1_000
    }

    /// Seconds.
    pub fn as_secs_f64(self) -> f64 {
        Duration::from(self).as_secs_f64()
    }
}

impl From<Duration> for Nanos {
    #[inline]
    fn from(length: Duration) -> Nanos {
        let seconds = length.as_secs().saturating_mul(1_000_000_000);
        Nanos(seconds.saturating_add(u64::from(length.subsec_nanos())))
    }
}

impl From<Nanos> for Duration {
    #[inline]
    fn from(length: Nanos) -> Duration {
        Duration::from_nanos(length.0)
    }
}

impl Debug for Nanos {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Duration::from(*self).fmt(f)
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, more: Nanos) {
        self.0 = self.0.saturating_add(more.0);
    }
}

/// Progress of a transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    #[default]
    Nothing,
    /// The name has an address.
    Resolved,
    /// There is a connection.
    Connected,
    /// TLS is set up on it.
    Secured,
    /// The request, or its first part, may have been sent.
    Sent,
    /// A part of a reply has arrived.
    Answered,
}

/// Moments and counts of one transfer. Cells of one struct under one short borrow: the application
/// may ask from inside a callback.
#[derive(Clone, Debug)]
pub struct TransferInfo {
    /// When the transfer was started, for the times below.
    pub started: Option<Instant>,
    /// When the current request (after redirects) was started.
    pub request_started: Option<Instant>,
    /// Since when the current request has its connection, so that data is meant to move.
    pub moving_since: Option<Instant>,
    /// The file has moved, and FTP's server has yet to say so.
    pub last_reply_owed: bool,
    /// All lengths of time since `started`, in the order in which they come.
    pub queued: Nanos,
    /// Name looked up.
    pub name_lookup: Nanos,
    /// Connected.
    pub connect: Nanos,
    /// TLS (or another application-level connect) done.
    pub app_connect: Nanos,
    /// About to send the request.
    pub pre_transfer: Nanos,
    /// Request sent.
    pub post_transfer: Nanos,
    /// First byte of the reply.
    pub start_transfer: Nanos,
    /// Everything; grows until the transfer ends.
    pub total: Nanos,
    /// The URL last used.
    pub effective_url: Option<Text>,
    /// The method last used.
    pub effective_method: Cow<'static, str>,
    /// Last response code.
    pub response_code: i64,
    /// Content-Type of the reply.
    pub content_type: Option<Text>,
    /// Redirects followed.
    pub redirect_count: i64,
    /// Bytes of all heads received.
    pub header_size: i64,
    /// Bytes of all requests, with the bodies of HTTP's.
    pub request_size: i64,
    /// Body bytes received, before decoding.
    pub downloaded: i64,
    /// Body bytes handed to the application.
    pub delivered: i64,
    /// Body bytes sent.
    pub uploaded: i64,
    /// Expected download size, or -1.
    pub download_total: i64,
    /// Size of the body that the head of the current reply announces, or -1.
    pub announced: i64,
    /// Expected upload size, or -1.
    pub upload_total: i64,
    /// Remote time of the document, or -1.
    pub file_time: i64,
    /// CURLINFO_HTTP_VERSION.
    pub http_version: i64,
    /// New connections made.
    pub connects: i64,
    /// The connection in use speaks TLS.
    pub secured: bool,
    /// How far the transfer got, once it is over. Its times do not show that: a failed transfer has the time
    /// of its end for steps that never happened.
    pub phase: Phase,
    /// Whether a time condition suppressed the body.
    pub condition_unmet: bool,
    /// Whether a proxy was used.
    pub used_proxy: bool,
    /// Scheme last used.
    pub scheme: Option<Scheme>,
    /// Ends of the last connection.
    pub ends: crate::callbacks::Endpoints,
    /// Its number, or -1.
    pub connection_id: i64,
    /// CURLINFO_CONN_ID: the number of the connection last used or attempted, closed since or not, or -1.
    /// curl 8.22 counts an attempt that failed and the reading of a file, too.
    pub attempted_connection: i64,
    /// Its descriptor, or -1; [`TransferInfo::open_socket`] returns it, too.
    pub last_socket: i64,
    /// Whether it is open.
    pub presence: Presence,
    /// Results that few transfers have.
    pub rare: Rare<ExtraInfo>,
}

/// Results about proxies, logins, FTP and certificates: ten thousand transfers do without them.
#[derive(Clone, Debug, Default)]
pub struct ExtraInfo {
    /// All redirects before the last request.
    pub redirect: Nanos,
    /// The Referer sent.
    pub referer: Option<Text>,
    /// Result of the certificate check.
    pub verify_result: i64,
    /// Response code of the last CONNECT.
    pub connect_code: i64,
    /// Where a redirect would have led.
    pub redirect_url: Option<Text>,
    /// Authentication the server offers, as CURLAUTH_* bits.
    pub auth_available: i64,
    /// CURLAUTH_ bits of the schemes that the proxy offers.
    pub proxy_auth_available: i64,
    /// Authentication used.
    pub auth_used: i64,
    /// CURLAUTH_ bit of the scheme used with the proxy.
    pub proxy_auth_used: i64,
    /// Result of the check of the proxy's certificate.
    pub proxy_verify_result: i64,
    /// The library's own objects of that connection (`net::tls::TlsInfo::native`).
    pub native_tls: Option<[usize; 2]>,
    /// Bytes sent as TLS early data that the server accepted; negative if it refused them.
    pub early_data: i64,
    /// CURLINFO_PROXY_ERROR.
    pub proxy_error: i64,
    /// Retry-After in seconds.
    pub retry_after: i64,
    /// FTP's first folder.
    pub ftp_entry_path: Option<Text>,
    /// Certificate fields, when CURLOPT_CERTINFO asks for them: per certificate a list of "name:value".
    pub certificates: Vec<Vec<Text>>,
    /// Nothing is transferred: the connection was handed to the application (CURLOPT_CONNECT_ONLY).
    pub handed_over: bool,
}

impl Nothing for ExtraInfo {
    const NOTHING: &'static ExtraInfo = &ExtraInfo {
        redirect: Nanos(0),
        referer: None,
        verify_result: 0,
        connect_code: 0,
        redirect_url: None,
        auth_available: 0,
        proxy_auth_available: 0,
        auth_used: 0,
        proxy_auth_used: 0,
        proxy_verify_result: 0,
        native_tls: None,
        early_data: 0,
        proxy_error: 0,
        retry_after: 0,
        ftp_entry_path: None,
        certificates: Vec::new(),
        handed_over: false,
    };
}

impl Default for TransferInfo {
    fn default() -> Self {
        let zero = Nanos::default();
        TransferInfo {
            started: None,
            request_started: None,
            moving_since: None,
            last_reply_owed: false,
            queued: zero,
            name_lookup: zero,
            connect: zero,
            app_connect: zero,
            pre_transfer: zero,
            post_transfer: zero,
            start_transfer: zero,
            total: zero,
            effective_url: None,
            effective_method: Cow::Borrowed(""),
            response_code: 0,
            content_type: None,
            redirect_count: 0,
            header_size: 0,
            request_size: 0,
            downloaded: 0,
            delivered: 0,
            uploaded: 0,
            download_total: -1,
            announced: -1,
            upload_total: -1,
            file_time: -1,
            http_version: 0,
            connects: 0,
            secured: false,
            condition_unmet: false,
            used_proxy: false,
            scheme: None,
            ends: Default::default(),
            connection_id: -1,
            attempted_connection: -1,
            last_socket: -1,
            phase: Phase::Nothing,
            presence: Presence::default(),
            rare: Rare::default(),
        }
    }
}

impl TransferInfo {
    /// Time since the transfer was started.
    pub fn since_start(&self, now: Instant) -> Nanos {
        self.started.map_or(Nanos(0), |s| now.saturating_duration_since(s).into())
    }

    /// CURLINFO_ACTIVESOCKET: its descriptor, or -1.
    pub fn open_socket(&self) -> i64 {
        if self.presence.is_there() { self.last_socket } else { -1 }
    }

    /// Returns whether the last request was one of HTTP.
    pub fn is_of_http(&self) -> bool {
        self.scheme.is_some_and(|scheme| scheme.family().asks_by_http())
    }

    /// Starts another request, or the same one on another connection.
    pub fn begin_request(&mut self, now: Instant) {
        (self.request_started, self.moving_since) = (Some(now), None);
    }

    /// Records the first byte of a reply. If the time of the sent request is unknown, it is set, too.
    pub fn first_byte(&mut self, at: Nanos) {
        self.start_transfer = at;
        if self.post_transfer.is_zero() {
            self.post_transfer = at;
        }
    }

    /// Returns the last phase that has a time.
    fn reached(&self) -> Phase {
        let phases = [
            (self.start_transfer, Phase::Answered),
            (self.pre_transfer, Phase::Sent),
            (self.app_connect, Phase::Secured),
            (self.connect, Phase::Connected),
            (self.name_lookup, Phase::Resolved),
        ];
        phases.into_iter().find(|(at, _)| !at.is_zero()).map_or(Phase::Nothing, |(_, phase)| phase)
    }

    /// Completes the transfer's times as curl 8.22 does. If it fails before its request is sent, it counts as
    /// about to send, sent and answered at its end. If it succeeds, the request counts as sent when it was
    /// about to be, unless the time is known. A first byte that never came stays unset.
    pub fn conclude(&mut self, now: Instant, failed: bool) {
        self.total = self.since_start(now);
        let end = self.total.max(Nanos::LEAST);
        let set = |time: &mut Nanos, at: Nanos| {
            if time.is_zero() {
                *time = at;
            }
        };
        self.phase = self.reached();
        if self.pre_transfer.is_zero() && self.rare.handed_over {
            return;
        }
        if self.pre_transfer.is_zero() && failed {
            set(&mut self.post_transfer, end);
            set(&mut self.start_transfer, end);
        }
        let sent = if self.post_transfer.is_zero() { end } else { self.post_transfer };
        set(&mut self.pre_transfer, sent);
        if !failed {
            let sent = self.pre_transfer;
            set(&mut self.post_transfer, sent);
        }
    }

    /// Records [`ExtraInfo::native_tls`], which is none unless the system's library was requested.
    pub fn note_native_tls(&mut self, native: Option<[usize; 2]>) {
        if self.rare.native_tls != native {
            self.rare.native_tls = native;
        }
    }

    /// Records the result of the certificate check, which is mostly success.
    pub fn note_verify_result(&mut self, result: i64) {
        if self.rare.verify_result != result {
            self.rare.verify_result = result;
        }
    }

    /// A request has this Referer; mostly none.
    pub fn note_referer(&mut self, referer: Option<Text>) {
        if self.rare.referer != referer {
            self.rare.referer = referer;
        }
    }

    /// Average speed in bytes per second.
    pub fn speed(&self, bytes: i64) -> i64 {
        let us = i128::from(self.total.as_micros());
        if us == 0 { bytes } else { (i128::from(bytes) * 1_000_000 / us) as i64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nanoseconds_are_lengths_of_time() {
        for length in [Duration::ZERO, Duration::from_nanos(1), Duration::new(86_400, 999_999_999)] {
            let nanos = Nanos::from(length);
            assert_eq!(Duration::from(nanos), length);
            assert_eq!(u128::from(nanos.as_micros()), length.as_micros());
            assert_eq!((nanos.is_zero(), format!("{nanos:?}")), (length.is_zero(), format!("{length:?}")));
        }
        assert_eq!(Nanos::from(Duration::MAX), Nanos(u64::MAX), "as long as can be");
        let mut sum = Nanos::LEAST;
        sum += Duration::from_micros(2).into();
        assert_eq!(Duration::from(sum), Duration::from_micros(3));
    }

    /// Queue, connect and redirects are other modules' matter: before, about to send, sent, first byte,
    /// failed or not; after.
    #[test]
    fn times_end_as_curl_ends_them() {
        let started = Instant::now();
        for (before, failed, after, what) in [
            ([0, 0, 0], true, [9, 9, 9], "refused, unknown, malformed, no such file"),
            ([2, 3, 0], true, [2, 3, 0], "cut off without a reply"),
            ([2, 0, 0], true, [2, 0, 0], "timed out within an upload"),
            ([2, 3, 4], true, [2, 3, 4], "cut off within a body"),
            ([0, 3, 3], true, [3, 3, 3], "failed after an answer"),
            ([0, 0, 0], false, [9, 9, 0], "nothing was asked for"),
            ([2, 0, 0], false, [2, 2, 0], "sizes alone"),
            ([2, 3, 0], false, [2, 3, 0], "an upload without a reply"),
            ([2, 3, 4], false, [2, 3, 4], "a reply"),
            ([0, 4, 4], false, [4, 4, 4], "an answer to what nobody marked"),
        ] {
            let at = |ms: u64| Nanos::from(Duration::from_millis(ms));
            let mut info = TransferInfo { started: Some(started), ..TransferInfo::default() };
            [info.pre_transfer, info.post_transfer, info.start_transfer] = before.map(at);
            info.conclude(started + Duration::from_millis(9), failed);
            let times = [info.pre_transfer, info.post_transfer, info.start_transfer];
            assert_eq!((times, info.total), (after.map(at), at(9)), "{what}");
            let phase = match (before[0], before[2]) {
                (0, 0) => Phase::Nothing,
                (_, 0) => Phase::Sent,
                _ => Phase::Answered,
            };
            assert_eq!(info.phase, phase, "{what}");
        }
        let mut info = TransferInfo { started: Some(started), ..TransferInfo::default() };
        info.conclude(started, true);
        assert_eq!(info.start_transfer.as_micros(), 1, "at once is not never");
        let mut info = TransferInfo { started: Some(started), ..TransferInfo::default() };
        info.rare.handed_over = true;
        info.conclude(started + Duration::from_millis(9), false);
        let times = [info.pre_transfer, info.post_transfer, info.start_transfer];
        assert_eq!(times, [Nanos::default(); 3], "CURLOPT_CONNECT_ONLY");
    }

    #[test]
    fn defaults_allocate_no_extra_info() {
        let mut info = TransferInfo::default();
        let before = format!("{:?}", info.rare);
        info.note_verify_result(0);
        info.note_referer(None);
        assert_eq!(format!("{:?}", info.rare), before);
        info.note_verify_result(1);
        assert_eq!(info.rare.verify_result, 1);
    }
}
