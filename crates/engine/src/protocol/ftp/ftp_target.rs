//! The directory and file that an FTP URL names, and the action there.

use tables::constant::{CURLFTPMETHOD_NOCWD, CURLFTPMETHOD_SINGLECWD};
use tables::{Code, EasyOption as O};
use wire::escape::{self, Reject};
use wire::ftp::path::{self, Location, Method};

use super::decide::directory::{self, Meaning};
use crate::error::{Error, Result};
use crate::settings::Method as Request;
use crate::transfer::Transfer;

/// The target of the URL, and the action there.
pub struct FtpTarget {
    /// Directories and file name.
    pub location: Location,
    /// How directories are reached.
    pub method: Method,
    /// The file's directory, up to the last slash. `None`: it is part of the commands, and there is no CWD.
    pub folder: Option<Vec<u8>>,
    /// 'A' or 'I'.
    pub data_type: u8,
    /// Whether the directory is listed instead of a file.
    pub list: bool,
    /// Names only.
    pub names_only: bool,
    /// CURLOPT_WILDCARDMATCH: the pattern of the files.
    pub pattern: Option<Vec<u8>>,
    /// From a listing.
    pub known_size: Option<u64>,
    /// Whether it is one of the files that match a pattern.
    pub listed: bool,
}

/// Returns whether a file is stored.
pub fn uploads(t: &Transfer) -> bool {
    t.on(O::Upload) || t.method == Request::Put
}

impl FtpTarget {
    /// Reads the URL and the settings.
    pub fn of(t: &Transfer) -> Result<FtpTarget> {
        let method = match t.long(O::FtpFilemethod) {
            CURLFTPMETHOD_NOCWD => Method::NoCwd,
            CURLFTPMETHOD_SINGLECWD => Method::SingleCwd,
            _ => Method::MultiCwd,
        };
        let (raw, kind) = path::split_type(t.url.path());
        let decoded = escape::decode(raw, Reject::Control)
            .map_err(|_| Error::new(Code::UrlMalformat, "path contains control characters"))?;
        let prequote = !t.easy.settings.borrow().list(O::Prequote).is_empty();
        let Meaning { location, method, folder, data_type, list, names_only, pattern } =
            directory::meaning(&directory::Request {
                path: &decoded,
                kind,
                method,
                uploads: uploads(t),
                described: t.on(O::Nobody),
                wildcard: t.on(O::Wildcardmatch),
                names_only: t.on(O::Dirlistonly),
                text: t.on(O::Transfertext),
                prequote,
            })?;
        Ok(FtpTarget {
            location,
            method,
            folder,
            data_type,
            list,
            names_only,
            pattern,
            known_size: None,
            listed: false,
        })
    }

    /// Returns the name of the file; empty for a directory.
    pub fn file(&self) -> &[u8] {
        self.location.file.as_deref().unwrap_or_default()
    }
}
