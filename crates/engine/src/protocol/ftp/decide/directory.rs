//! The working directory (CWD, MKD), the type of data (TYPE) and the file's time (MDTM).

use tables::Code;
use tables::constant::{CURL_TIMECOND_IFUNMODSINCE, CURL_TIMECOND_NONE, CURLFTP_CREATE_DIR_RETRY};
use wire::ftp::path::{self, Location, Method};

use crate::error::{Error, Result};

/// Returns whether the control connection is in this directory already. A new connection is in the login's
/// directory; on a kept one `known` is the directory of the last URL.
pub fn is_in_folder(reused: bool, known: Option<&[u8]>, folder: &[u8]) -> bool {
    let current = if reused { known } else { Some(&b""[..]) };
    current == Some(folder)
}

/// Returns whether a kept connection goes back to its first folder before it enters these: they are relative
/// to it.
pub fn starts_at_entry(reused: bool, folders: &[Vec<u8>]) -> bool {
    reused && !folders.first().is_some_and(|folder| folder.starts_with(b"/"))
}

/// Returns whether CWD is tried again after MKD. `option` is CURLOPT_FTP_CREATE_MISSING_DIRS: another client
/// may have created the directory in between.
pub fn enters_after_mkd(made: bool, option: i64) -> bool {
    made || option == CURLFTP_CREATE_DIR_RETRY
}

/// Returns whether TYPE has to be sent.
pub fn needs_type(current: Option<u8>, wanted: u8) -> bool {
    current != Some(wanted)
}

/// Returns whether MDTM is sent: the file's time is asked for, or compared.
pub fn asks_for_time(filetime: bool, condition: i64, has_file: bool) -> bool {
    (filetime || condition != CURL_TIMECOND_NONE) && has_file
}

/// Returns whether the file's time does not meet CURLOPT_TIMECONDITION with this CURLOPT_TIMEVALUE.
pub fn is_unmet(condition: i64, modified: i64, limit: i64) -> bool {
    match condition {
        _ if modified <= 0 || limit <= 0 => false,
        CURL_TIMECOND_NONE => false,
        CURL_TIMECOND_IFUNMODSINCE => modified > limit,
        _ => modified <= limit,
    }
}

/// A URL and the settings for it.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Path of the URL, decoded, without its type.
    pub path: &'a [u8],
    /// The type after `;type=`.
    pub kind: Option<u8>,
    /// CURLOPT_FTP_FILEMETHOD.
    pub method: Method,
    /// Whether a file is stored.
    pub uploads: bool,
    /// CURLOPT_NOBODY.
    pub described: bool,
    /// CURLOPT_WILDCARDMATCH.
    pub wildcard: bool,
    /// CURLOPT_DIRLISTONLY.
    pub names_only: bool,
    /// CURLOPT_TRANSFERTEXT.
    pub text: bool,
    /// Whether there are commands of CURLOPT_PREQUOTE.
    pub prequote: bool,
}

/// The target of a URL, and the action there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FtpTarget {
    /// Directories and file name.
    pub location: Location,
    /// How directories are reached.
    pub method: Method,
    /// The directory, up to the last slash. `None`: it is part of the commands, and there is no CWD.
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

/// Decides which directory and file a URL means.
pub fn target(f: &Request<'_>) -> Result<FtpTarget> {
    let malformed = |text: &str| Error::new(Code::UrlMalformat, text);
    let decoded = f.path.strip_prefix(b"/").unwrap_or(f.path);
    let wild = f.wildcard && !f.uploads && !f.described;
    // A file name with its path cannot be a pattern: CWD is used instead.
    let method = if wild && f.method == Method::NoCwd { Method::MultiCwd } else { f.method };
    let mut location = path::split(decoded, method).map_err(|_| malformed("too many path components"))?;
    if f.uploads && location.file.is_none() && !f.described {
        return Err(malformed("Uploading to a URL without a filename"));
    }
    let folder = path::folder(decoded, method);
    let pattern = if wild { location.file.take() } else { None };
    let names_only = f.names_only || f.kind == Some(b'D');
    let ascii = (f.text || f.kind == Some(b'A')) && f.kind != Some(b'I');
    // As in curl, with commands before it a named file is fetched even if only names are wanted.
    let names = names_only && !f.prequote;
    let list = !f.uploads && pattern.is_none() && (location.file.is_none() || names);
    let data_type = if ascii || (list && !f.described) { b'A' } else { b'I' };
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

/// Returns the argument of a listing command: without CWD (CURLFTPMETHOD_NOCWD) it is the directory. The path
/// ends before its last slash, unless that is the root.
pub fn list_argument(method: Method, has_pattern: bool, path: &[u8]) -> Option<Vec<u8>> {
    if has_pattern || method != Method::NoCwd {
        return None;
    }
    let path = path.strip_prefix(b"/").unwrap_or(path);
    let slash = path.iter().rposition(|&octet| octet == b'/')?;
    Some(path[..slash.max(1)].to_vec())
}

/// Returns the command that lists a directory. `own` is CURLOPT_CUSTOMREQUEST.
pub fn list_verb(own: Option<&[u8]>, names_only: bool) -> Vec<u8> {
    match own {
        Some(own) => own.to_vec(),
        None if names_only => b"NLST".to_vec(),
        None => b"LIST".to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tables::constant::{
        CURL_TIMECOND_IFMODSINCE, CURL_TIMECOND_LASTMOD, CURLFTP_CREATE_DIR, CURLFTP_CREATE_DIR_NONE,
    };

    #[test]
    fn cwd_is_skipped_where_the_connection_is_already() {
        let rows: [(_, _, Option<&[u8]>, &[u8], _); 6] = [
            ("RFC 1738 §3.2.2: a new connection, no folder", false, None, b"", true),
            ("RFC 1738 §3.2.2: a new connection", false, None, b"a/", false),
            ("CURLOPT_FTP_FILEMETHOD(3): a kept one in the same folder", true, Some(b"a/"), b"a/", true),
            ("CURLOPT_FTP_FILEMETHOD(3): in another", true, Some(b"b/"), b"a/", false),
            ("CURLOPT_FTP_FILEMETHOD(3): after a failure nobody knows", true, None, b"", false),
            ("RFC 959 §4.1.1: names are compared octet by octet", true, Some(b"A/"), b"a/", false),
        ];
        for (name, reused, known, folder, wanted) in rows {
            assert_eq!(is_in_folder(reused, known, folder), wanted, "{name}");
        }
    }

    #[test]
    fn relative_folders_begin_at_the_entry_path() {
        let folders = |names: &[&str]| names.iter().map(|name| name.as_bytes().to_vec()).collect::<Vec<_>>();
        let rows = [
            ("RFC 1738 §3.2.2: relative, kept connection", true, folders(&["a", "b"]), true),
            ("RFC 1738 §3.2.2: absolute, kept connection", true, folders(&["/", "b"]), false),
            ("RFC 1738 §3.2.2: the login's own folder", true, folders(&[]), true),
            ("RFC 1738 §3.2.2: a new connection is there", false, folders(&["a"]), false),
        ];
        for (name, reused, folders, wanted) in rows {
            assert_eq!(starts_at_entry(reused, &folders), wanted, "{name}");
        }
    }

    #[test]
    fn a_folder_that_could_not_be_made_is_entered_only_on_retry() {
        let rows = [
            ("CURLOPT_FTP_CREATE_MISSING_DIRS(3): made", true, CURLFTP_CREATE_DIR, true),
            ("CURLOPT_FTP_CREATE_MISSING_DIRS(3): refused", false, CURLFTP_CREATE_DIR, false),
            ("CURLOPT_FTP_CREATE_MISSING_DIRS(3): retry", false, CURLFTP_CREATE_DIR_RETRY, true),
            ("CURLOPT_FTP_CREATE_MISSING_DIRS(3): none", false, CURLFTP_CREATE_DIR_NONE, false),
        ];
        for (name, made, option, wanted) in rows {
            assert_eq!(enters_after_mkd(made, option), wanted, "{name}");
        }
    }

    #[test]
    fn type_is_sent_when_it_changes() {
        let rows = [
            ("RFC 959 §4.1.2: nothing was sent", None, b'I', true),
            ("RFC 959 §4.1.2: binary already", Some(b'I'), b'I', false),
            ("RFC 959 §4.1.2: from text to binary", Some(b'A'), b'I', true),
            ("RFC 959 §4.1.2: from binary to text", Some(b'I'), b'A', true),
        ];
        for (name, current, wanted_type, wanted) in rows {
            assert_eq!(needs_type(current, wanted_type), wanted, "{name}");
        }
    }

    #[test]
    fn mdtm_is_sent_for_a_time_or_a_condition_of_a_file() {
        let rows = [
            ("CURLOPT_FILETIME(3)", true, CURL_TIMECOND_NONE, true, true),
            ("CURLOPT_TIMECONDITION(3)", false, CURL_TIMECOND_IFMODSINCE, true, true),
            ("RFC 3659 §3: nobody asks", false, CURL_TIMECOND_NONE, true, false),
            ("RFC 3659 §3: a folder has none", true, CURL_TIMECOND_LASTMOD, false, false),
        ];
        for (name, filetime, condition, has_file, wanted) in rows {
            assert_eq!(asks_for_time(filetime, condition, has_file), wanted, "{name}");
        }
    }

    #[test]
    fn time_conditions_compare_with_the_file() {
        let rows = [
            ("CURLOPT_TIMECONDITION(3): none", CURL_TIMECOND_NONE, 5, 9, false),
            ("CURLOPT_TIMECONDITION(3): IFMODSINCE, older", CURL_TIMECOND_IFMODSINCE, 8, 9, true),
            ("CURLOPT_TIMECONDITION(3): IFMODSINCE, equal", CURL_TIMECOND_IFMODSINCE, 9, 9, true),
            ("CURLOPT_TIMECONDITION(3): IFMODSINCE, newer", CURL_TIMECOND_IFMODSINCE, 10, 9, false),
            ("CURLOPT_TIMECONDITION(3): IFUNMODSINCE, older", CURL_TIMECOND_IFUNMODSINCE, 8, 9, false),
            ("CURLOPT_TIMECONDITION(3): IFUNMODSINCE, equal", CURL_TIMECOND_IFUNMODSINCE, 9, 9, false),
            ("CURLOPT_TIMECONDITION(3): IFUNMODSINCE, newer", CURL_TIMECOND_IFUNMODSINCE, 10, 9, true),
            ("CURLOPT_TIMECONDITION(3): LASTMOD is IFMODSINCE", CURL_TIMECOND_LASTMOD, 8, 9, true),
            ("CURLOPT_TIMEVALUE(3): 0 compares nothing", CURL_TIMECOND_IFMODSINCE, 8, 0, false),
            ("RFC 3659 §3: a file of 1970 has no time", CURL_TIMECOND_IFMODSINCE, 0, 9, false),
        ];
        for (name, condition, modified, limit, wanted) in rows {
            assert_eq!(is_unmet(condition, modified, limit), wanted, "{name}");
        }
    }

    const FILE: Request<'static> = Request {
        path: b"/a/f",
        kind: None,
        method: Method::MultiCwd,
        uploads: false,
        described: false,
        wildcard: false,
        names_only: false,
        text: false,
        prequote: false,
    };
    const FOLDER: Request<'static> = Request { path: b"/a/", ..FILE };

    #[test]
    fn a_url_with_a_slash_at_its_end_is_a_listing() {
        // Whether a folder is listed, names only, and the type of the data.
        let rows = [
            ("RFC 1738 §3.2.2: a file", FILE, (false, false, b'I')),
            ("RFC 1738 §3.2.2: a folder", FOLDER, (true, false, b'A')),
            ("RFC 1738 §3.2.2: ;type=d", Request { kind: Some(b'D'), ..FILE }, (true, true, b'A')),
            ("CURLOPT_DIRLISTONLY(3): a folder", Request { names_only: true, ..FOLDER }, (true, true, b'A')),
            ("CURLOPT_DIRLISTONLY(3): a file", Request { names_only: true, ..FILE }, (true, true, b'A')),
            (
                "CURLOPT_PREQUOTE(3): a file after commands is fetched",
                Request { names_only: true, prequote: true, ..FILE },
                (false, true, b'I'),
            ),
            ("CURLOPT_NOBODY(3): a folder", Request { described: true, ..FOLDER }, (true, false, b'I')),
            ("CURLOPT_UPLOAD(3): a file", Request { uploads: true, ..FILE }, (false, false, b'I')),
        ];
        for (name, facts, wanted) in rows {
            let found = target(&facts).unwrap();
            assert_eq!((found.list, found.names_only, found.data_type), wanted, "{name}");
        }
    }

    #[test]
    fn the_type_of_the_url_goes_before_the_option() {
        let rows = [
            ("RFC 1738 §3.2.2: binary unless asked", FILE, b'I'),
            ("RFC 1738 §3.2.2: ;type=a", Request { kind: Some(b'A'), ..FILE }, b'A'),
            ("CURLOPT_TRANSFERTEXT(3)", Request { text: true, ..FILE }, b'A'),
            (
                "CURLOPT_TRANSFERTEXT(3): ;type=i is stronger",
                Request { text: true, kind: Some(b'I'), ..FILE },
                b'I',
            ),
        ];
        for (name, facts, wanted) in rows {
            assert_eq!(target(&facts).unwrap().data_type, wanted, "{name}");
        }
    }

    #[test]
    fn a_pattern_takes_the_place_of_the_file() {
        let wild = Request { wildcard: true, path: b"/a/*.c", ..FILE };
        let rows: [(_, _, Option<&[u8]>, _); 5] = [
            ("CURLOPT_WILDCARDMATCH(3)", wild, Some(b"*.c"), Method::MultiCwd),
            (
                "CURLOPT_WILDCARDMATCH(3): the folder is entered with CURLFTPMETHOD_NOCWD, too",
                Request { method: Method::NoCwd, ..wild },
                Some(b"*.c"),
                Method::MultiCwd,
            ),
            (
                "CURLOPT_WILDCARDMATCH(3): CURLFTPMETHOD_SINGLECWD stays",
                Request { method: Method::SingleCwd, ..wild },
                Some(b"*.c"),
                Method::SingleCwd,
            ),
            ("CURLOPT_UPLOAD(3): no pattern", Request { uploads: true, ..wild }, None, Method::MultiCwd),
            ("CURLOPT_NOBODY(3): no pattern", Request { described: true, ..wild }, None, Method::MultiCwd),
        ];
        for (name, facts, pattern, method) in rows {
            let found = target(&facts).unwrap();
            assert_eq!((found.pattern.as_deref(), found.method), (pattern, method), "{name}");
            assert_eq!(found.location.file.is_none(), pattern.is_some(), "{name}");
            assert!(!found.list, "{name}");
        }
    }

    #[test]
    fn an_upload_needs_a_file_name() {
        let rows = [
            ("CURLOPT_UPLOAD(3): a file", Request { uploads: true, ..FILE }, true),
            ("CURLOPT_UPLOAD(3): a folder", Request { uploads: true, ..FOLDER }, false),
            (
                "CURLOPT_NOBODY(3): nothing is stored",
                Request { uploads: true, described: true, ..FOLDER },
                true,
            ),
        ];
        for (name, facts, wanted) in rows {
            assert_eq!(target(&facts).map_err(|e| e.code()).is_ok(), wanted, "{name}");
        }
        let deep = b"a/".repeat(1001);
        let failed = target(&Request { path: &deep, ..FILE }).map_err(|e| e.code());
        assert_eq!(failed, Err(Code::UrlMalformat), "RFC 3986 §7: a path that nobody nests");
    }

    #[test]
    fn folders_are_split_as_the_file_method_says() {
        let of = |method, path| {
            let found = target(&Request { method, path, ..FILE }).unwrap();
            let text = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).into_owned();
            let Location { directories, file } = found.location;
            (directories.iter().map(text).collect::<Vec<_>>().join("|"), text(&file.unwrap()), found.folder)
        };
        let rows: [(_, _, &[u8], _, _, Option<&[u8]>); 5] = [
            ("CURLFTPMETHOD_MULTICWD", Method::MultiCwd, b"/a/b/f", "a|b", "f", Some(b"a/b/")),
            ("CURLFTPMETHOD_SINGLECWD", Method::SingleCwd, b"/a/b/f", "a/b", "f", Some(b"a/b/")),
            ("CURLFTPMETHOD_NOCWD", Method::NoCwd, b"/a/b/f", "", "a/b/f", Some(b"")),
            ("CURLFTPMETHOD_NOCWD, absolute", Method::NoCwd, b"//a/f", "", "/a/f", None),
            ("RFC 1738 §3.2.2: absolute by %2F", Method::MultiCwd, b"//a/f", "/|a", "f", Some(b"/a/")),
        ];
        for (name, method, path, directories, file, folder) in rows {
            let wanted = (directories.to_owned(), file.to_owned(), folder.map(<[u8]>::to_vec));
            assert_eq!(of(method, path), wanted, "{name}");
        }
    }

    #[test]
    fn a_listing_names_its_folder_only_without_cwd() {
        let rows: [(_, _, _, &[u8], Option<&[u8]>); 6] = [
            ("CURLFTPMETHOD_NOCWD: the folder", Method::NoCwd, false, b"/a/b/", Some(b"a/b")),
            ("CURLFTPMETHOD_NOCWD: of a file", Method::NoCwd, false, b"/a/f", Some(b"a")),
            ("CURLFTPMETHOD_NOCWD: the root", Method::NoCwd, false, b"//", Some(b"/")),
            ("CURLFTPMETHOD_NOCWD: the login's own", Method::NoCwd, false, b"/", None),
            ("CURLFTPMETHOD_MULTICWD: it was changed into", Method::MultiCwd, false, b"/a/b/", None),
            ("CURLOPT_WILDCARDMATCH(3): it was changed into", Method::NoCwd, true, b"/a/b/", None),
        ];
        for (name, method, has_pattern, path, wanted) in rows {
            assert_eq!(list_argument(method, has_pattern, path).as_deref(), wanted, "{name}");
        }
    }

    #[test]
    fn the_applications_own_command_lists() {
        assert_eq!(list_verb(None, false), b"LIST", "RFC 959 §4.1.3");
        assert_eq!(list_verb(None, true), b"NLST", "CURLOPT_DIRLISTONLY(3)");
        assert_eq!(list_verb(Some(b"MLSD"), true), b"MLSD", "CURLOPT_CUSTOMREQUEST(3)");
    }
}
