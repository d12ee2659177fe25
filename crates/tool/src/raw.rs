//! What the tool uses of the library, under one roof.

pub use warmwire::callbacks::{Asked, Instead, Prior, Stored};
pub use warmwire::callbacks::{Callbacks, DebugKind, ProgressCounts, ReadAnswer, SeekAnswer, Written};
pub use warmwire::tables::Scheme;

/// The part about sockets.
pub mod sockets {
    pub use warmwire::callbacks::{Configured, Opened, Purpose, SocketCallbacks, Target, Transport};
}

pub use warmwire::number_transfers_anew;
pub use warmwire::tables::share::LockData;
pub use warmwire::wire::cache as rules;
pub use warmwire::wire::date::parse as parse_date;
pub use warmwire::wire::hex;
pub use warmwire::wire::mime;
pub use warmwire::wire::url::{Part as UrlPart, Url, UrlError, flag as url_flag};
pub use warmwire::{
    Code, Easy, EasyOption, Form, FormSource, Limits, Multi, Nanos, Origin, Settings, Share, TransferInfo,
    is_device,
};

/// The version of curl that this program stands in for.
pub fn curl_version() -> &'static str {
    warmwire::tables::version().curl
}

/// As curl_version tells it: what the library is made of.
pub fn version_line() -> String {
    warmwire::tables::version_line("rustls/0.23")
}

/// The schemes that are built, in alphabetic order.
pub fn schemes() -> Vec<&'static str> {
    Scheme::built_names()
}

/// The engines that the system's OpenSSL knows; none where there is no OpenSSL.
pub use warmwire::engines_of_openssl as engines;
pub use warmwire::{has_openssl, speak_tls_by_openssl};

/// The features that are built, as curl names them.
pub fn features() -> Vec<&'static str> {
    warmwire::tables::feature::built_names().collect()
}
