//! Place: the folder and file that an FTP URL names, and what is to be done there.

use tables::{Code, EasyOption as O};
use wire::escape::{self, Reject};
use wire::ftp::path::{self, Location, Method};

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
            2 => Method::NoCwd,
            3 => Method::SingleCwd,
            _ => Method::MultiCwd,
        };
        let (raw, kind) = path::split_type(t.url.path());
        let decoded = escape::decode(raw, Reject::Control)
            .map_err(|_| Error::new(Code::UrlMalformat, "path contains control characters"))?;
        let decoded = decoded.strip_prefix(b"/").unwrap_or(&decoded);
        let (uploading, described) = (uploads(t), t.on(O::Nobody));
        let wild = t.on(O::Wildcardmatch) && !uploading && !described;
        // A file name that goes with its path can be no pattern: the folder is changed into all the same.
        let method = if wild && method == Method::NoCwd { Method::MultiCwd } else { method };
        let mut location = path::split(decoded, method)
            .map_err(|_| Error::new(Code::UrlMalformat, "too many path components"))?;
        if uploading && location.file.is_none() && !described {
            return Err(Error::new(Code::UrlMalformat, "Uploading to a URL without a filename"));
        }
        let folder = path::folder(decoded, method);
        let pattern = if wild { location.file.take() } else { None };
        let names_only = t.on(O::Dirlistonly) || kind == Some(b'D');
        let ascii = (t.on(O::Transfertext) || kind == Some(b'A')) && kind != Some(b'I');
        // With commands to be sent before it, a named file is fetched even where names are wanted, as in
        // curl.
        let names = names_only && t.easy.settings.borrow().list(O::Prequote).is_empty();
        let list = !uploading && pattern.is_none() && (location.file.is_none() || names);
        let data_type = if ascii || (list && !described) { b'A' } else { b'I' };
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
