//! Reads the target of a transfer from its URL and settings.

use tables::constant::{CURLFTPMETHOD_NOCWD, CURLFTPMETHOD_SINGLECWD};
use tables::{Code, EasyOption as O};
use wire::escape::{self, Reject};
use wire::ftp::path::{self, Method};

use super::decide::directory;
pub use super::decide::directory::FtpTarget;
use crate::error::{Error, Result};
use crate::settings::Method as Request;
use crate::transfer::Transfer;

/// Returns whether a file is stored.
pub fn uploads(t: &Transfer) -> bool {
    t.on(O::Upload) || t.method == Request::Put
}

impl FtpTarget {
    /// Reads the URL and the settings.
    pub fn of(t: &Transfer) -> Result<FtpTarget> {
        let method = match t.long(O::FtpFileMethod) {
            CURLFTPMETHOD_NOCWD => Method::NoCwd,
            CURLFTPMETHOD_SINGLECWD => Method::SingleCwd,
            _ => Method::MultiCwd,
        };
        let (raw, kind) = path::split_type(t.url.path());
        let decoded = escape::decode(raw, Reject::Control)
            .map_err(|_| Error::new(Code::UrlMalformat, "path contains control characters"))?;
        let prequote = !t.easy.settings.borrow().list(O::PreQuote).is_empty();
        directory::target(&directory::Request {
            path: &decoded,
            kind,
            method,
            uploads: uploads(t),
            described: t.on(O::NoBody),
            wildcard: t.on(O::WildcardMatch),
            names_only: t.on(O::DirListOnly),
            text: t.on(O::TransferText),
            prequote,
        })
    }

    /// Returns the name of the file; empty for a directory.
    pub fn file(&self) -> &[u8] {
        self.location.file.as_deref().unwrap_or_default()
    }
}
