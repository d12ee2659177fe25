//! Session: the state of a kept control connection, from one transfer to the next.

use std::sync::Arc;
use std::time::Duration;

use super::ahead::Ahead;
use super::servers::Stream;

/// State that outlives a transfer on a kept control connection.
#[derive(Default)]
pub struct Session {
    /// First folder, from PWD.
    pub entry_path: Option<Vec<u8>>,
    /// The folder that the last URL led to, up to its last slash and decoded; unknown after a failure.
    pub directory: Option<Vec<u8>>,
    /// TYPE last sent.
    pub data_type: Option<u8>,
    /// EPSV was refused.
    pub no_epsv: bool,
    /// EPRT was refused.
    pub no_eprt: bool,
    /// Data connections are protected (PROT P).
    pub private_data: bool,
    /// So many files and listings went over it.
    pub moved: u32,
    /// How the server takes commands that do not wait for one another.
    pub stream: Stream,
    /// How long the server takes to answer.
    pub pace: Duration,
    /// Replies that are owed to no command of a transfer.
    pub ahead: Ahead,
    /// TLS as begun by AUTH: data connections of later transfers need it too.
    pub tls: Option<Arc<net::tls::TlsConfig>>,
    /// The TLS sessions of a control connection that speaks in clear again.
    pub sessions: Option<net::SessionStore>,
}

impl net::Memory for Session {}
