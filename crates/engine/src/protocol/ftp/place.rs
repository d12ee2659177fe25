//! Place: the folder and file that an FTP URL names, and what is to be done there.

use tables::constant::{CURLFTPMETHOD_NOCWD, CURLFTPMETHOD_SINGLECWD};
use tables::{Code, EasyOption as O};
use wire::escape::{self, Reject};
use wire::ftp::path::{self, Location, Method};

use super::decide::directory::{self, Meaning};
use crate::error::{Error, Result};
use crate::settings::Method as Request;
use crate::transfer::Transfer;

/// Where the URL leads, and what is to be done there.
pub struct Place {
    /// Folders and file name.
    pub location: Location,
    /// How folders are reached.
    pub method: Method,
    /// Where the file is, up to the last slash. None: the commands tell it, and no folder is changed into.
    pub folder: Option<Vec<u8>>,
    /// 'A' or 'I'.
    pub data_type: u8,
    /// A folder's content rather than a file.
    pub list: bool,
    /// Names only.
    pub names_only: bool,
    /// CURLOPT_WILDCARDMATCH: which files of the folder.
    pub pattern: Option<Vec<u8>>,
    /// From a listing.
    pub known_size: Option<u64>,
    /// One of the files that match a pattern.
    pub listed: bool,
}

/// Whether a file is stored.
pub fn uploads(t: &Transfer) -> bool {
    t.on(O::Upload) || t.method == Request::Put
}

impl Place {
    /// Reads URL and settings.
    pub fn of(t: &Transfer) -> Result<Place> {
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
        Ok(Place {
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

    /// Returns the name of the file; empty for a folder.
    pub fn file(&self) -> &[u8] {
        self.location.file.as_deref().unwrap_or_default()
    }
}
