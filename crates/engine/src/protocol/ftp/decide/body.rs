//! Files and listings: SIZE, REST, RETR, LIST, STOR and APPE, and the reply that ends them.

use tables::Code;
use wire::ftp::reply::Reply;

use super::super::range::Span;
use crate::error::{Error, Result};

/// Returns whether the server's size says nothing about the bytes to come: line ends of a text are converted,
/// and a file that grows (CURLOPT_IGNORE_CONTENT_LENGTH) has no size.
pub fn sizes_mean_nothing(data_type: u8, ignored: bool) -> bool {
    data_type == b'A' || ignored
}

/// Returns the size in a reply to SIZE (RFC 3659 §4). Fails if there is no such file.
pub fn size(reply: &Reply) -> Result<Option<u64>> {
    match reply.code {
        213 => Ok(reply.size()),
        550 => Err(Error::new(Code::RemoteFileNotFound, "The file does not exist")),
        _ => Ok(None),
    }
}

/// Returns how much of the file the server has, by its reply to SIZE: an upload is resumed there.
pub fn size_there(reply: &Reply) -> u64 {
    if reply.code == 213 { reply.size().unwrap_or(0) } else { 0 }
}

/// The place at which a download begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// At the first byte, without REST.
    AtStart,
    /// At this argument of REST.
    At(i64),
    /// Nothing is left to be fetched.
    Complete,
}

/// Decides where a download of part of a file begins. Without a size that means something it begins at its
/// start.
pub fn begin(span: &Span, size: Option<u64>, meaningless: bool) -> Result<Begin> {
    if size.is_none() && meaningless {
        return Ok(Begin::AtStart);
    }
    Ok(match span.start(size)? {
        None => Begin::AtStart,
        Some(_) if size.is_some_and(|size| span.rest(size) == 0) => Begin::Complete,
        Some(from) => Begin::At(from),
    })
}

/// Returns how many bytes are to come: by SIZE, or else by the reply to RETR. Some servers know a size only
/// when the file begins.
pub fn expected(rest: Option<u64>, announced: Option<u64>) -> Option<u64> {
    rest.filter(|&rest| rest > 0).or(announced)
}

/// Fails if the reply to RETR does not let the file come.
pub fn may_begin(reply: &Reply) -> Result<()> {
    let text = || format!("RETR response: {:03}", reply.code);
    match reply.code {
        125 | 150 => Ok(()),
        550 => Err(Error::new(Code::RemoteFileNotFound, text())),
        _ => Err(Error::new(Code::FtpCouldntRetrFile, text())),
    }
}

/// Returns whether a listing follows the reply to LIST. Some servers answer 450 for an empty folder.
pub fn list_begins(code: u16) -> Result<bool> {
    match code {
        125 | 150 => Ok(true),
        450 => Ok(false),
        _ => Err(Error::new(Code::FtpCouldntRetrFile, format!("RETR response: {code:03}"))),
    }
}

/// Fails if the reply after the data does not confirm it.
pub fn confirmed(reply: &Reply) -> Result<()> {
    match reply.code {
        226 | 250 => Ok(()),
        552 => Err(Error::new(Code::RemoteDiskFull, "Exceeded storage allocation")),
        code => Err(Error::new(Code::PartialFile, format!("server did not report OK, got {code}"))),
    }
}

/// A download that has ended.
#[derive(Clone, Copy, Debug)]
pub struct DownloadEnd {
    /// Only part of the file was wanted.
    pub limited: bool,
    /// The connection understands no command any more, or was stopped already.
    pub stopped: bool,
    /// The code of its failure.
    pub failure: Option<Code>,
}

/// Returns whether ABOR is sent after a download that came to no data: the server would go on sending.
pub fn is_aborted(f: &DownloadEnd) -> bool {
    f.limited && !f.stopped && f.failure.is_none_or(is_harmless)
}

/// Returns whether the control connection can be used after such a failure. After any other curl closes it
/// without a QUIT.
pub fn is_harmless(code: Code) -> bool {
    matches!(
        code,
        Code::BadDownloadResume
            | Code::FtpWeirdPasvReply
            | Code::FtpPortFailed
            | Code::FtpAcceptFailed
            | Code::FtpAcceptTimeout
            | Code::FtpCouldntSetType
            | Code::FtpCouldntRetrFile
            | Code::PartialFile
            | Code::UploadFailed
            | Code::RemoteAccessDenied
            | Code::FilesizeExceeded
            | Code::RemoteFileNotFound
            | Code::WriteError
    )
}

/// The upload of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// The server has all of it.
    Complete,
    /// The file is written anew (STOR).
    Replace,
    /// The server's file is added to (APPE).
    Append,
}

/// Decides how a file is stored of which the server has `there` bytes. `size` is CURLOPT_INFILESIZE, `append`
/// CURLOPT_APPEND.
pub fn store(append: bool, there: u64, size: i64) -> Store {
    match there {
        0 if append => Store::Append,
        0 => Store::Replace,
        _ if size > 0 && size as u64 <= there => Store::Complete,
        _ => Store::Append,
    }
}

/// Fails if the server refuses an upload.
pub fn check_upload(code: u16) -> Result<()> {
    match code >= 400 {
        true => Err(Error::new(Code::UploadFailed, format!("Failed FTP upload: {code:03}"))),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::reply;
    use super::*;

    #[test]
    fn sizes_of_texts_and_growing_files_mean_nothing() {
        let rows = [
            ("RFC 3659 §4.2: binary", b'I', false, false),
            ("RFC 3659 §4.2: a text", b'A', false, true),
            ("CURLOPT_IGNORE_CONTENT_LENGTH(3)", b'I', true, true),
        ];
        for (name, data_type, ignored, wanted) in rows {
            assert_eq!(sizes_mean_nothing(data_type, ignored), wanted, "{name}");
        }
    }

    #[test]
    fn size_replies() {
        let rows = [
            ("RFC 3659 §4.1: 213", "213 1234", Ok(Some(1234)), 1234),
            ("RFC 3659 §4.1: 213 without a number", "213 none", Ok(None), 0),
            ("RFC 3659 §4.3: 550", "550 no such file", Err(Code::RemoteFileNotFound), 0),
            ("RFC 3659 §4.1: not known", "500 SIZE?", Ok(None), 0),
            ("RFC 3659 §4.1: a number behind another code", "550 7", Err(Code::RemoteFileNotFound), 0),
        ];
        for (name, line, download, upload) in rows {
            assert_eq!(size(&reply(line)).map_err(|e| e.code()), download, "{name}");
            assert_eq!(size_there(&reply(line)), upload, "{name}: CURLOPT_RESUME_FROM_LARGE(3), -1");
        }
    }

    #[test]
    fn downloads_begin_where_the_range_says() {
        let span = |text: &str| Span::parse(text.as_bytes()).unwrap();
        let all = span("0-");
        let rows = [
            ("RFC 3659 §5: the whole file", &all, Some(30), false, Ok(Begin::AtStart)),
            ("CURLOPT_RANGE(3): from 5", &span("5-"), Some(30), false, Ok(Begin::At(5))),
            ("CURLOPT_RANGE(3): the last 10", &span("-10"), Some(30), false, Ok(Begin::At(20))),
            ("CURLOPT_RESUME_FROM(3): complete", &span("30-"), Some(30), false, Ok(Begin::Complete)),
            (
                "CURLOPT_RESUME_FROM(3): beyond its end",
                &span("31-"),
                Some(30),
                false,
                Err(Code::BadDownloadResume),
            ),
            ("RFC 3659 §4: of unknown size", &span("5-"), None, false, Ok(Begin::At(5))),
            ("RFC 3659 §4: the end of one", &span("-10"), None, false, Ok(Begin::At(-10))),
            ("RFC 3659 §4.2: a text begins at its start", &span("5-"), None, true, Ok(Begin::AtStart)),
            ("CURLOPT_WILDCARDMATCH(3): a size by listing", &span("5-"), Some(30), true, Ok(Begin::At(5))),
        ];
        for (name, span, size, meaningless, wanted) in rows {
            assert_eq!(begin(span, size, meaningless).map_err(|e| e.code()), wanted, "{name}");
        }
    }

    #[test]
    fn the_expected_length_is_sizes_before_retrs() {
        let rows = [
            ("RFC 3659 §4: SIZE", Some(5), Some(9), Some(5)),
            ("RFC 959 §5.4: 150 names one", None, Some(9), Some(9)),
            ("RFC 3659 §4: SIZE of a file that is made when read", Some(0), Some(9), Some(9)),
            ("RFC 959 §3.4.1: until the end of the connection", None, None, None),
        ];
        for (name, rest, announced, wanted) in rows {
            assert_eq!(expected(rest, announced), wanted, "{name}");
        }
    }

    #[test]
    fn replies_to_retr() {
        let rows = [
            ("RFC 959 §5.4: 125, the connection is open", 125, None),
            ("RFC 959 §5.4: 150, it is about to be", 150, None),
            ("RFC 959 §5.4: 550", 550, Some(Code::RemoteFileNotFound)),
            ("RFC 959 §5.4: 425, no data connection", 425, Some(Code::FtpCouldntRetrFile)),
            ("RFC 959 §5.4: 226 without a 150", 226, Some(Code::FtpCouldntRetrFile)),
        ];
        for (name, code, wanted) in rows {
            let found = may_begin(&reply(&format!("{code} x"))).err().map(|e| e.code());
            assert_eq!(found, wanted, "{name}");
        }
    }

    #[test]
    fn replies_to_list() {
        let failed = Err(Code::FtpCouldntRetrFile);
        let rows = [
            ("RFC 959 §5.4: 125", 125, Ok(true)),
            ("RFC 959 §5.4: 150", 150, Ok(true)),
            ("RFC 959 §5.4: 450, an empty folder", 450, Ok(false)),
            ("RFC 959 §5.4: 550", 550, failed),
            ("RFC 959 §5.4: 226 without a 150", 226, failed),
        ];
        for (name, code, wanted) in rows {
            assert_eq!(list_begins(code).map_err(|e| e.code()), wanted, "{name}");
        }
    }

    #[test]
    fn replies_after_the_data() {
        let rows = [
            ("RFC 959 §5.4: 226", 226, None),
            ("RFC 959 §5.4: 250", 250, None),
            ("RFC 959 §5.4: 552", 552, Some(Code::RemoteDiskFull)),
            ("RFC 959 §5.4: 426, aborted", 426, Some(Code::PartialFile)),
            ("RFC 959 §5.4: another success is none", 200, Some(Code::PartialFile)),
        ];
        for (name, code, wanted) in rows {
            let found = confirmed(&reply(&format!("{code} x"))).err().map(|e| e.code());
            assert_eq!(found, wanted, "{name}");
        }
    }

    #[test]
    fn only_a_limited_download_in_step_is_aborted() {
        let limited = DownloadEnd { limited: true, stopped: false, failure: None };
        let rows = [
            ("CURLOPT_RANGE(3): no data was wanted", limited, true),
            ("CURLOPT_RANGE(3): all of the file", DownloadEnd { limited: false, ..limited }, false),
            ("RFC 959 §4.1.3: ABOR was sent", DownloadEnd { stopped: true, ..limited }, false),
            (
                "RFC 959 §5.4: RETR was refused",
                DownloadEnd { failure: Some(Code::FtpCouldntRetrFile), ..limited },
                true,
            ),
            (
                "RFC 959 §3.4: the connection is lost",
                DownloadEnd { failure: Some(Code::RecvError), ..limited },
                false,
            ),
        ];
        for (name, facts, wanted) in rows {
            assert_eq!(is_aborted(&facts), wanted, "{name}");
        }
    }

    #[test]
    fn failures_after_which_the_connection_is_in_step() {
        let rows = [
            ("RFC 959 §5.4: a file that is not there", Code::RemoteFileNotFound, true),
            ("RFC 959 §5.4: a refused upload", Code::UploadFailed, true),
            ("RFC 2428 §3: a port that makes no sense", Code::FtpWeirdPasvReply, true),
            ("CURLOPT_WRITEFUNCTION(3): the application has failed", Code::WriteError, true),
            ("CURLOPT_MAXFILESIZE(3)", Code::FilesizeExceeded, true),
            ("CURLOPT_TIMEOUT(3): in the middle of something", Code::OperationTimedout, false),
            ("CURLOPT_XFERINFOFUNCTION(3): in the middle of something", Code::AbortedByCallback, false),
            ("RFC 959 §4.2: a reply that is none", Code::WeirdServerReply, false),
            ("RFC 959 §5.4: the login was refused", Code::LoginDenied, false),
            ("CURLOPT_QUOTE(3): a refused command, as in curl", Code::QuoteError, false),
        ];
        for (name, code, wanted) in rows {
            assert_eq!(is_harmless(code), wanted, "{name}");
        }
    }

    #[test]
    fn resumed_uploads_append_what_is_missing() {
        let rows = [
            ("RFC 959 §4.1.3: STOR", false, 0, 9, Store::Replace),
            ("CURLOPT_APPEND(3)", true, 0, 9, Store::Append),
            ("CURLOPT_RESUME_FROM_LARGE(3): the rest", false, 4, 9, Store::Append),
            ("CURLOPT_RESUME_FROM_LARGE(3): nothing is left", false, 9, 9, Store::Complete),
            ("CURLOPT_RESUME_FROM_LARGE(3): more than there is", false, 10, 9, Store::Complete),
            ("CURLOPT_INFILESIZE(3): not known", false, 4, -1, Store::Append),
            ("CURLOPT_APPEND(3): and complete", true, 9, 9, Store::Complete),
        ];
        for (name, append, there, size, wanted) in rows {
            assert_eq!(store(append, there, size), wanted, "{name}");
        }
    }

    #[test]
    fn uploads_are_refused_by_4yz_and_5yz() {
        let rows = [
            ("RFC 959 §5.4: 150", 150, true),
            ("RFC 959 §5.4: 226, as some servers say at once", 226, true),
            ("RFC 959 §5.4: 452", 452, false),
            ("RFC 959 §5.4: 553", 553, false),
        ];
        for (name, code, wanted) in rows {
            assert_eq!(check_upload(code).is_ok(), wanted, "{name}");
        }
    }
}
