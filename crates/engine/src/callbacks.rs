//! The interface from a transfer to the application. The C boundary and the Rust API each implement
//! [`Callbacks`]. The engine holds no borrow and no lock while it calls one, because an application may call
//! the API again or even jump over our frames.

use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use wire::content_encoding::Dictionary;

pub use net::filter::open::{OpenSocketAnswer, Purpose, SocketCallbacks, SockoptAnswer, Target, Transport};
pub use runtime::CloseHook;

/// Answer of a write or header callback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteAnswer {
    /// Took all of it.
    All,
    /// CURL_WRITEFUNC_PAUSE: wants the same bytes again later.
    Pause,
    /// Took so many bytes instead of all (or said CURL_WRITEFUNC_ERROR, which is `usize::MAX` here).
    Failed(usize),
}

/// Answer of a read callback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadAnswer {
    /// Number of bytes in the buffer; 0 is the end.
    Bytes(usize),
    /// CURL_READFUNC_PAUSE.
    Pause,
    /// CURL_READFUNC_ABORT.
    Abort,
    /// More bytes than there was room for.
    TooMany,
}

/// Answer of a seek (or the older ioctl) callback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeekAnswer {
    /// The next read starts there.
    Done,
    /// CURL_SEEKFUNC_FAIL.
    Failed,
    /// CURL_SEEKFUNC_CANTSEEK, or no such callback.
    Cannot,
}

/// The kind of a debug callback's data (curl_infotype).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum DebugKind {
    /// Informational text.
    Text = 0,
    /// Header received.
    HeaderIn = 1,
    /// Header sent.
    HeaderOut = 2,
    /// Body received.
    DataIn = 3,
    /// Body sent.
    DataOut = 4,
    /// TLS record received.
    TlsDataIn = 5,
    /// TLS record sent.
    TlsDataOut = 6,
}

/// Bytes expected and moved so far, both directions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProgressCounts {
    /// Expected download size, 0 when unknown.
    pub download_total: i64,
    /// Downloaded.
    pub download_now: i64,
    /// Expected upload size, 0 when unknown.
    pub upload_total: i64,
    /// Uploaded.
    pub upload_now: i64,
    /// Time since the transfer began.
    pub spent: Duration,
    /// Whether the transfer is over: no further call follows.
    pub finished: bool,
}

/// The addresses of a connection, for CURLOPT_PREREQFUNCTION. They are formatted only on demand.
#[derive(Debug, Clone, Copy, Default)]
pub struct Endpoints {
    /// Remote address and port; none for a unix socket.
    pub remote: Option<SocketAddr>,
    /// Local address and port.
    pub local: Option<SocketAddr>,
}

impl Endpoints {
    /// Remote address as text.
    pub fn primary_ip(&self) -> String {
        ip(self.remote)
    }

    /// Remote port; -1 where there is none, as with a unix socket.
    pub fn primary_port(&self) -> i32 {
        self.remote.map_or(-1, |a| a.port().into())
    }

    /// Local address as text.
    pub fn local_ip(&self) -> String {
        ip(self.local)
    }

    /// Returns the local port; 0 for a socket that is not bound to one, -1 where there is no socket.
    pub fn local_port(&self) -> i32 {
        self.local.map_or(if self.remote.is_some() { 0 } else { -1 }, |a| a.port().into())
    }
}

fn ip(address: Option<SocketAddr>) -> String {
    address.map(|a| a.ip().to_string()).unwrap_or_default()
}

/// The application's functions that judge the key of an SSH server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostKeyFunctions {
    /// CURLOPT_SSH_KEYFUNCTION, CURLOPT_SSH_KEYDATA, CURLOPT_SSH_HOSTKEYFUNCTION and CURLOPT_SSH_HOSTKEYDATA:
    /// handles with equal ones judge alike.
    At([usize; 4]),
    /// Functions that cannot be compared: only their own handle judges like them.
    OfHandle,
}

/// An HTTP request as an application's cache sees it: before it is sent, and as far as it is known without a
/// connection.
#[derive(Debug, Clone, Copy)]
pub struct PlannedRequest<'a> {
    /// The method.
    pub method: &'a [u8],
    /// The whole URL.
    pub url: &'a [u8],
    /// Fields with values, except for credentials and fields of the connection.
    pub fields: &'a [(Vec<u8>, Vec<u8>)],
    /// Canonical bytes of [`net::ConnectionKey::of_replies`]: the server, the proxies, and how each is
    /// verified. They contain files by path and content, and secrets in clear.
    pub peer: &'a [u8],
}

/// A reply that an application has stored.
pub struct StoredReply {
    /// Status line and fields, each with its line ending, without the empty line at the end.
    pub head: Vec<u8>,
    /// The body, as the application received it.
    pub body: Box<dyn std::io::Read>,
    /// The body's length; `None` if only the head was stored.
    pub length: Option<u64>,
}

/// A reply that an application has stored in part. The received reply has the missing bytes.
pub struct JoinedReply {
    /// Status line and fields of the whole, as in [`StoredReply`].
    pub head: Vec<u8>,
    /// The bytes before the received ones, and their number.
    pub before: (Box<dyn std::io::Read>, u64),
    /// The bytes behind the received ones, and their number.
    pub after: (Box<dyn std::io::Read>, u64),
}

/// Additions of an application's cache to a request.
#[derive(Default)]
pub struct RequestAdditions {
    /// Fields, "Name: value" without an ending. They replace fields of the same name.
    pub fields: Vec<Vec<u8>>,
    /// The dictionary that they offer for the reply (RFC 9842).
    pub dictionary: Option<Rc<Dictionary>>,
}

/// The decision of an application's cache before a request.
pub enum CacheAnswer {
    /// Send the request.
    Send(RequestAdditions),
    /// Send nothing and deliver this reply.
    Serve(StoredReply),
}

/// The decision of an application's cache about a received reply, before its body.
pub enum ReplyAnswer {
    /// Deliver the received reply.
    Accept,
    /// Deliver this reply instead.
    Serve(StoredReply),
    /// Deliver stored bytes before and behind the body of the received reply.
    Join(JoinedReply),
    /// The stored reply is unusable; send the request again.
    SendAgain,
}

/// The application's side of a transfer. The default implementation discards every body, uploads nothing and
/// ignores all other events.
pub trait Callbacks {
    /// A piece of body, at most 16 KiB (CURL_MAX_WRITE_SIZE).
    fn write(&self, _data: &[u8]) -> WriteAnswer {
        WriteAnswer::All
    }

    /// Returns whether [`lend`](Self::lend) may lend memory.
    fn lends(&self) -> bool {
        false
    }

    /// Lends memory for the next bytes of a body that is delivered as it arrives. `fill` receives into the
    /// beginning of that memory and returns the number of bytes received. `left` is the rest of the body.
    /// Returns `false`, without a call of `fill`, if there is no such memory: the bytes then go through
    /// [`write`](Self::write).
    fn lend(&self, _left: u64, _fill: &mut dyn FnMut(&mut [u8]) -> usize) -> bool {
        false
    }

    /// A packet of RTSP's, with the four bytes before it; it is taken whole (CURLOPT_INTERLEAVEFUNCTION).
    fn interleaved(&self, packet: &[u8]) -> WriteAnswer {
        self.write(packet)
    }

    /// Receives a header line with its line ending; `None` if no function is set.
    fn header(&self, _line: &[u8]) -> Option<WriteAnswer> {
        None
    }

    /// Wants upload data.
    fn read(&self, _buf: &mut [u8]) -> ReadAnswer {
        ReadAnswer::Bytes(0)
    }

    /// Like `read`, without waiting: 0 bytes mean that none are available now. An application's own function
    /// may still block.
    fn read_now(&self, buf: &mut [u8]) -> ReadAnswer {
        self.read(buf)
    }

    /// Moves to this offset of the upload data.
    fn seek(&self, _offset: u64) -> SeekAnswer {
        SeekAnswer::Cannot
    }

    /// Length of CURLOPT_POSTFIELDS, `None` when not set.
    fn post_fields_len(&self) -> Option<u64> {
        None
    }

    /// Copies a piece of CURLOPT_POSTFIELDS, which stays the application's memory.
    fn post_fields(&self, _offset: u64, _buf: &mut [u8]) -> usize {
        0
    }

    /// Whether a progress function wants to be called (CURLOPT_NOPROGRESS is 0 and one is set).
    fn wants_progress(&self) -> bool {
        false
    }

    /// Progress; `false` aborts the transfer.
    fn progress(&self, _counts: ProgressCounts) -> bool {
        true
    }

    /// Whether debug output is wanted (CURLOPT_VERBOSE).
    fn wants_debug(&self) -> bool {
        false
    }

    /// Returns whether a layer should log more (curl_global_trace); its name is in lower case.
    fn traces(&self, _layer: &str) -> bool {
        false
    }

    /// Debug output.
    fn debug(&self, _kind: DebugKind, _data: &[u8]) {}

    /// Debug output, when it is wanted.
    fn debug_if_wanted(&self, kind: DebugKind, data: &[u8]) {
        if self.wants_debug() {
            std::hint::cold_path();
            self.debug(kind, data);
        }
    }

    /// Returns whether the application has an HTTP cache (RFC 9111) and wants to decide about each reply.
    fn has_cache(&self) -> bool {
        false
    }

    /// Decides before a request over HTTP: send it, or serve a stored reply. Called if [`Self::has_cache`].
    fn before_request(&self, _request: PlannedRequest<'_>) -> CacheAnswer {
        CacheAnswer::Send(RequestAdditions::default())
    }

    /// A redirect leads to this URL, which is requested next. Options that are set now apply to it.
    fn redirected(&self, _url: &[u8]) {}

    /// Decides after the head of a final reply over HTTP, before its body. `None` as the status means that
    /// the network failed. Called if [`Self::has_cache`].
    fn before_body(&self, _status: Option<u16>) -> ReplyAnswer {
        ReplyAnswer::Accept
    }

    /// Fills the application's error buffer.
    fn fail(&self, _message: &str) {}

    /// The application's own way with sockets (CURLOPT_OPENSOCKETFUNCTION, SOCKOPTFUNCTION,
    /// CLOSESOCKETFUNCTION), when it has set any of them.
    fn sockets(&self) -> Option<&dyn SocketCallbacks> {
        None
    }

    /// CURLOPT_PREREQFUNCTION; `false` aborts.
    fn prereq(&self, _ends: &Endpoints) -> bool {
        true
    }

    /// CURLOPT_RESOLVER_START_FUNCTION; `false` aborts.
    fn resolver_start(&self) -> bool {
        true
    }

    /// CURLOPT_TRAILERFUNCTION: lines to send after a chunked upload; `None` aborts.
    fn trailers(&self) -> Option<Vec<Rc<[u8]>>> {
        Some(Vec::new())
    }

    /// CURLOPT_HSTSREADFUNCTION: the next entry for the cache.
    fn hsts_read(&self) -> HstsAnswer {
        HstsAnswer::Done
    }

    /// CURLOPT_HSTSWRITEFUNCTION: receives one of `total` entries; returns `false` if it wants no more.
    fn hsts_write(&self, _entry: &HstsEntry, _index: usize, _total: usize) -> bool {
        false
    }

    /// CURLOPT_CHUNK_BGN_FUNCTION for one entry of a wildcard match.
    fn chunk_begin(&self, _entry: &FileInfo, _remaining: usize) -> ChunkAnswer {
        ChunkAnswer::Ok
    }

    /// CURLOPT_CHUNK_END_FUNCTION; `false` fails the transfer.
    fn chunk_end(&self) -> bool {
        true
    }

    /// CURLOPT_SSH_HOSTKEYFUNCTION: whether a server's key is the right one; `None` when not set.
    fn ssh_host_key(&self, _found: &HostKey) -> Option<bool> {
        None
    }

    /// CURLOPT_SSH_KEYFUNCTION: decides about a server's key, after the look-up in known_hosts; `None` if not
    /// set.
    fn ssh_known_host(
        &self,
        _known: Option<&HostKey>,
        _found: &HostKey,
        _matches: HostMatch,
    ) -> Option<HostVerdict> {
        None
    }

    /// Returns the functions behind [`ssh_host_key`](Self::ssh_host_key) and
    /// [`ssh_known_host`](Self::ssh_known_host) and their data, which identify handles that judge servers
    /// differently; `None` if neither is set. A connection whose key was accepted by another handle's
    /// functions is not reused.
    fn host_key_judge(&self) -> Option<HostKeyFunctions> {
        None
    }

    /// CURLOPT_SSL_CTX_FUNCTION: modifies the TLS context at this address. `Err` is the application's code.
    fn tls_context(&self, _address: usize) -> Result<(), i32> {
        Ok(())
    }

    /// CURLOPT_FNMATCH_FUNCTION; `None` when not set.
    fn fnmatch(&self, _pattern: &[u8], _name: &[u8]) -> Option<MatchAnswer> {
        None
    }
}

/// The key of an SSH server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostKey {
    /// A CURLKHTYPE_.
    pub kind: i64,
    /// The key in SSH's wire format, or in base64.
    pub bytes: Vec<u8>,
    /// Whether it is in base64, as in the file.
    pub coded: bool,
}

/// The result of the look-up in known_hosts: CURLKHMATCH_.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostMatch {
    /// The host is known by it.
    Ok = 0,
    /// The host is known by another.
    Mismatch = 1,
    /// The host is not known.
    Missing = 2,
}

/// The application's decision about a key: CURLKHSTAT_.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostVerdict {
    /// Accept it, and add it to known_hosts.
    Add,
    /// It is taken.
    Fine,
    /// It is not.
    Reject,
    /// It is not, this time.
    Defer,
    /// It is taken, and written down in the place of the other.
    Replace,
}

/// A host of the HSTS cache.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HstsEntry {
    /// Host name.
    pub host: Vec<u8>,
    /// Whether it includes subdomains.
    pub includes_subdomains: bool,
    /// Until when: "20191231 10:00:00" or "unlimited"; empty is for ever.
    pub expires: Vec<u8>,
}

/// Answer of CURLOPT_HSTSREADFUNCTION.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HstsAnswer {
    /// An entry; more may follow.
    Entry(HstsEntry),
    /// CURLSTS_DONE.
    Done,
    /// CURLSTS_FAIL: fails the transfer.
    Failed,
    /// An entry without a name.
    Invalid,
}

/// Answer of the match callback (CURL_FNMATCHFUNC_*).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchAnswer {
    /// The name matches.
    Match,
    /// It does not.
    NoMatch,
    /// Fail the transfer.
    Failed,
}

/// The result of the chunk-begin callback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChunkAnswer {
    /// Fetch it.
    Ok,
    /// Skip the file.
    Skip,
    /// Fail the transfer.
    Failed,
}

/// An entry of a directory listing (curl_fileinfo).
#[derive(Debug, Clone, Default)]
pub struct FileInfo {
    /// Name.
    pub name: Vec<u8>,
    /// curlfiletype.
    pub file_type: i32,
    /// Modification time in seconds since the epoch, when known.
    pub time: i64,
    /// Permission bits.
    pub perm: u32,
    /// User id.
    pub uid: i32,
    /// Group id.
    pub gid: i32,
    /// Size in bytes.
    pub size: i64,
    /// Number of hard links.
    pub hardlinks: i64,
    /// The texts as listed: time, permissions, user, group, target of a link.
    pub strings: [Vec<u8>; 5],
    /// CURLFINFOFLAG_* of the known fields.
    pub flags: u32,
}

/// Informational text for a verbose transfer.
#[inline]
pub(crate) fn note(callbacks: &dyn Callbacks, text: impl FnOnce() -> String) {
    if callbacks.wants_debug() {
        std::hint::cold_path();
        let mut line = text();
        line.push('\n');
        callbacks.debug(DebugKind::Text, line.as_bytes());
    }
}
