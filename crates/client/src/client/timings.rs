//! Times, sizes and addresses of a transfer.

use std::net::SocketAddr;
use std::time::Duration;

use engine::info::TransferInfo;

/// Times, sizes and addresses of a transfer. Times count from its start.
#[derive(Clone, Debug, Default)]
pub struct Timings {
    /// Time until the name was resolved.
    pub name_lookup: Duration,
    /// Time until the connection was opened.
    pub connect: Duration,
    /// Time until the TLS handshake completed; zero without TLS.
    pub tls: Duration,
    /// Time until the first byte of the reply.
    pub first_byte: Duration,
    /// Total time.
    pub total: Duration,
    /// Bytes of body received, before decoding.
    pub downloaded: u64,
    /// Bytes of body sent.
    pub uploaded: u64,
    /// Redirects followed.
    pub redirects: u64,
    /// Connections opened for the transfer; 0 if a pooled one was reused.
    pub connects: u64,
    /// Address of the peer.
    pub remote: Option<SocketAddr>,
    /// Local address.
    pub local: Option<SocketAddr>,
}

impl Timings {
    pub(super) fn of(info: &TransferInfo) -> Timings {
        let count = |n: i64| u64::try_from(n).unwrap_or(0);
        Timings {
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
