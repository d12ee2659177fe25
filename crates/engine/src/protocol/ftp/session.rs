//! Session: the state of a kept control connection, from one transfer to the next.

use std::sync::Arc;
use std::time::Duration;

use super::ahead::Ahead;
use super::servers::Stream;

/// State of a kept control connection that outlives a transfer.
#[derive(Default)]
pub struct Session {
    /// First directory, from PWD.
    pub entry_path: Option<Vec<u8>>,
    /// The directory of the last URL, up to its last slash and decoded; unknown after a failure.
    pub directory: Option<Vec<u8>>,
    /// TYPE last sent.
    pub data_type: Option<u8>,
    /// Whether EPSV was refused.
    pub no_epsv: bool,
    /// Whether EPRT was refused.
    pub no_eprt: bool,
    /// Whether data connections are protected (PROT P).
    pub private_data: bool,
    /// Number of files and listings moved over it.
    pub moved: u32,
    /// How the server handles commands that do not wait for each other.
    pub stream: Stream,
    /// The server's usual time for a reply.
    pub pace: Duration,
    /// Commands sent ahead, whose replies the next transfer reads.
    pub ahead: Ahead,
    /// TLS settings of AUTH: data connections of later transfers need them too.
    pub tls: Option<Arc<net::tls::TlsConfig>>,
    /// The TLS sessions of a control connection that has returned to plain text.
    pub sessions: Option<net::SessionStore>,
}

impl net::Memory for Session {}
