//! Records of ended transfers, and the files made of them: an HTTP Archive and a picture. They serve the
//! tool's `--har` and `--timeline`, and WARMWIRE_HAR and WARMWIRE_TIMELINE of any program.

mod exchanges;
pub mod fields;
mod har;
mod lanes;
pub mod redact;
mod timeline;
pub mod units;

use std::time::{Duration, SystemTime};

use tables::Info;

pub use exchanges::{Exchange, Exchanges};
pub use har::{har, iso};
pub use redact::Secrets;
pub use timeline::timeline;

/// The names of the phases of a transfer.
pub const PHASES: [&str; 7] = ["queued", "redirects", "name", "connect", "TLS", "wait", "receive"];

/// A finished transfer.
#[derive(Clone, Debug)]
pub struct Record {
    pub url: String,
    pub method: String,
    pub status: i64,
    pub code: i32,
    pub error: String,
    /// When the last attempt began: since the run did, and on the calendar.
    pub began: Duration,
    pub date: SystemTime,
    /// Duration of earlier attempts, with the pauses after them.
    pub before: Duration,
    /// Lengths of the phases, in the order of [`PHASES`].
    pub phases: [Duration; 7],
    pub connection: i64,
    pub reused: bool,
    pub address: String,
    pub mime_type: String,
    /// Bytes of the body in either direction.
    pub upload: i64,
    pub download: i64,
    /// Bytes of the received body after decoding.
    pub delivered: i64,
    pub exchanges: Vec<Exchange>,
}

impl Record {
    /// Creates the record of a transfer that began at this time, from its infos. The other fields are those
    /// of a success without a connection and without exchanges.
    pub fn of(
        number: &dyn Fn(Info) -> i64,
        text: &dyn Fn(Info) -> String,
        began: Duration,
        date: SystemTime,
    ) -> Record {
        Record {
            url: text(Info::EffectiveUrl),
            method: text(Info::EffectiveMethod),
            status: number(Info::ResponseCode),
            code: 0,
            error: String::new(),
            began,
            date,
            before: Duration::ZERO,
            phases: phases(number),
            connection: -1,
            reused: number(Info::NumConnects) == 0,
            address: text(Info::PrimaryIp),
            mime_type: text(Info::ContentType),
            upload: number(Info::SizeUploadT),
            download: number(Info::SizeDownloadT),
            delivered: number(Info::SizeDelivered),
            exchanges: Vec::new(),
        }
    }

    /// The stream of the last exchange.
    pub fn stream(&self) -> Option<u32> {
        self.exchanges.last()?.stream
    }

    pub fn total(&self) -> Duration {
        self.phases.iter().sum()
    }
}

/// Turns moments since the start into lengths; a moment that was not reached has no length.
fn phases(number: &dyn Fn(Info) -> i64) -> [Duration; 7] {
    let moments = [
        Info::QueueTimeT,
        Info::RedirectTimeT,
        Info::NameLookupTimeT,
        Info::ConnectTimeT,
        Info::AppConnectTimeT,
        Info::StartTransferTimeT,
        Info::TotalTimeT,
    ];
    let mut lengths = [Duration::ZERO; 7];
    let mut before = 0;
    for (length, moment) in lengths.iter_mut().zip(moments) {
        let at = number(moment).max(before);
        *length = Duration::from_micros((at - before) as u64);
        before = at;
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One transfer with a redirect in it.
    pub fn record() -> Record {
        let mut exchanges = Exchanges::default();
        exchanges.asked(b"GET /r HTTP/1.1\r\nHost: x\r\n\r\n");
        for line in
            ["HTTP/1.1 302 Found\r\n", "Location: /a?b=c&<d>\r\n", "Set-Cookie: k=v; path=/\r\n", "\r\n"]
        {
            exchanges.answered(line.as_bytes());
        }
        exchanges.noted(b"[HTTP/2] [5] OPENED stream for http://x/a\n");
        exchanges.noted(b"[HTTP/2] [5] [:method: POST]\n");
        exchanges.noted(b"[HTTP/4] [7] OPENED stream\n");
        exchanges.asked(b"POST /a?b=c&<d> HTTP/1.1\r\nHost: x\r\nCookie: k=v; l=w\r\n\r\n");
        exchanges.sent(b"a=");
        exchanges.sent(b"b");
        for line in
            ["HTTP/1.1 100 Continue\r\n", "\r\n", "HTTP/1.1 200 All right\r\n", "Server: \"y\"\r\n", "\r\n"]
        {
            exchanges.answered(line.as_bytes());
        }
        Record {
            url: "http://x/a?b=c&<d>".into(),
            method: "POST".into(),
            status: 200,
            code: 0,
            error: String::new(),
            began: Duration::from_millis(5),
            date: SystemTime::UNIX_EPOCH,
            before: Duration::ZERO,
            phases: [0, 10, 1, 2, 0, 30, 4].map(Duration::from_millis),
            connection: 0,
            reused: false,
            address: "127.0.0.1".into(),
            mime_type: "text/plain".into(),
            upload: 3,
            download: 7,
            delivered: 9,
            exchanges: exchanges.all,
        }
    }

    #[test]
    fn moments_become_lengths() {
        let moment = |info: Info| match info {
            Info::NameLookupTimeT => 10,
            Info::ConnectTimeT => 30,
            Info::StartTransferTimeT => 100,
            Info::TotalTimeT => 150,
            _ => 0,
        };
        assert_eq!(phases(&moment), [0, 0, 10, 20, 0, 70, 50].map(Duration::from_micros));
    }

    #[test]
    fn interim_replies_are_replaced() {
        let record = record();
        assert_eq!(record.exchanges.len(), 2);
        assert!(record.exchanges[1].reply.starts_with(b"HTTP/1.1 200 All right\r\n"));
    }
}
