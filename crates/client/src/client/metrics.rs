//! Times, sizes and addresses of a transfer.

use std::net::SocketAddr;
use std::time::Duration;

use engine::info::TransferInfo;

/// Times, sizes and addresses of a transfer. Times count from its beginning.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    /// The name had an address.
    pub name_lookup: Duration,
    /// There was a connection.
    pub connect: Duration,
    /// TLS stood on it; zero without.
    pub tls: Duration,
    /// The first byte of the reply came.
    pub first_byte: Duration,
    /// All of it.
    pub total: Duration,
    /// Bytes of body received, as they came.
    pub downloaded: u64,
    /// Bytes of body sent.
    pub uploaded: u64,
    /// Redirects that were followed.
    pub redirects: u64,
    /// Connections that were made for it: none where a kept one served.
    pub connects: u64,
    /// The peer.
    pub remote: Option<SocketAddr>,
    /// This side's end.
    pub local: Option<SocketAddr>,
}

impl Metrics {
    pub(super) fn of(info: &TransferInfo) -> Metrics {
        let count = |n: i64| u64::try_from(n).unwrap_or(0);
        Metrics {
            name_lookup: info.name_lookup.into(),
            connect: info.connect.into(),
            tls: info.app_connect.into(),
            first_byte: info.start_transfer.into(),
            total: info.total.into(),
            downloaded: count(info.downloaded),
            uploaded: count(info.uploaded),
            redirects: count(info.redirect_count),
            connects: count(info.connects),
            remote: info.ends.remote,
            local: info.ends.local,
        }
    }
}
