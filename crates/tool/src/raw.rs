//! The parts of the library that the tool uses.

pub use warmwire::callbacks::{
    CacheAnswer, JoinedReply, PlannedRequest, ReplyAnswer, RequestAdditions, StoredReply,
};
pub use warmwire::callbacks::{Callbacks, DebugKind, ProgressCounts, ReadAnswer, SeekAnswer, WriteAnswer};
pub use warmwire::{Dictionary, Priority, WITH_DICTIONARY};

/// The part about sockets.
pub mod sockets {
    pub use warmwire::callbacks::{
        OpenSocketAnswer, Purpose, SocketCallbacks, SockoptAnswer, Target, Transport,
    };
}

pub use warmwire::segments::{self, checksum};
pub use warmwire::{upload, uploads};

pub use warmwire::archive;
pub use warmwire::base64;
pub use warmwire::content_disposition;
pub use warmwire::escape;
pub use warmwire::fnmatch;
pub use warmwire::http_cache as rules;
pub use warmwire::http_date;
pub use warmwire::listings;
pub use warmwire::proxy_source;
pub use warmwire::tls_engines as engines;
pub use warmwire::url::{Part as UrlPart, Url, UrlError, flag as url_flag};
pub use warmwire::{
    AccessPolicy, ArgKind, CURL_VERSION, Code, Easy, EasyOption, Form, FormSource, Headers, Info, Limits,
    LockData, Multi, OptionSet, Origin, Share, TransferInfo, UploadMode, Value, constant, features,
    has_system_tls, hex, is_device, json, listed_schemes, mime, parse_date, prefer_system_tls, schemes,
    version_line,
};
