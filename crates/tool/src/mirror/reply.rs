//! The facts of an answer, and their meaning for the mirror.

use crate::bytes::Bytes;
use crate::outcome::message;
use crate::raw::{Easy, Origin};
use crate::transfer::Transfer;

/// CURLE_HTTP_RETURNED_ERROR
const HTTP_ERROR: i32 = 22;
/// CURLINFO_FILETIME_T(3): the server reported no time.
const NO_TIME: i64 = -1;

/// The facts of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// CURLE number, with its text.
    pub code: i32,
    pub text: String,
    /// Of HTTP; 0 otherwise.
    pub status: i64,
    pub media_type: Option<Bytes>,
    pub location: Option<Bytes>,
    pub etag: Option<Bytes>,
    pub modified: Option<i64>,
    /// The size that the server has announced.
    pub announced: Option<u64>,
}

/// The meaning of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The body is the content.
    Content,
    /// The content is the one that is known.
    Unchanged,
    /// It is at another URL.
    Moved(Bytes),
    /// There is no such resource.
    Gone(Failure),
    Failed(Failure),
}

/// A failure: its reason, and its exit code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub reason: String,
    pub code: i32,
}

impl Reply {
    /// Reads the facts of a transfer that has ended.
    pub fn of(transfer: &Transfer, easy: &Easy, code: i32) -> Reply {
        let mut reply = easy.info(|info| {
            let is_http = ["http", "https"].iter().any(|scheme| info.scheme().eq_ignore_ascii_case(scheme));
            Reply {
                code,
                status: if is_http { info.response_code() } else { 0 },
                media_type: info.content_type(),
                location: info.redirect_url(),
                modified: Some(info.file_time()).filter(|time| *time != NO_TIME),
                announced: u64::try_from(info.download_total()).ok(),
                ..Reply::default()
            }
        });
        if code != 0 {
            let own = transfer.own_error.borrow().clone();
            reply.text = own.unwrap_or_else(|| message(easy, code));
        }
        reply.etag = easy.headers(|headers| {
            let fields = headers.of(Origin::Header as u32, None);
            let mut tags = fields.iter().filter(|(_, field)| field.name.eq_ignore_ascii_case(b"etag"));
            tags.next_back().map(|(_, field)| field.value.to_vec())
        });
        reply
    }

    /// Returns what the answer means.
    pub fn meaning(&self) -> Meaning {
        let status_failure = || Failure { reason: format!("HTTP status {}", self.status), code: HTTP_ERROR };
        match (self.code, self.status, &self.location) {
            (0, 0 | 200, _) => Meaning::Content,
            (0, 304, _) => Meaning::Unchanged,
            (0, 301..=303 | 307 | 308, Some(url)) => Meaning::Moved(url.clone()),
            (0, 404 | 410, _) => Meaning::Gone(status_failure()),
            (0, ..) => Meaning::Failed(status_failure()),
            // CURLE_REMOTE_FILE_NOT_FOUND
            (78, ..) => Meaning::Gone(self.failure()),
            _ => Meaning::Failed(self.failure()),
        }
    }

    fn failure(&self) -> Failure {
        Failure { reason: self.text.clone(), code: self.code }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_have_meanings() {
        let at = || Some(b"http://b/".to_vec());
        let failed = |reason: &str, code| Meaning::Failed(Failure { reason: reason.into(), code });
        let gone = |reason: &str, code| Meaning::Gone(Failure { reason: reason.into(), code });
        for (code, status, location, meaning) in [
            (0, 200, None, Meaning::Content),
            (0, 0, None, Meaning::Content),
            (0, 304, None, Meaning::Unchanged),
            (0, 301, at(), Meaning::Moved(at().unwrap())),
            (0, 308, at(), Meaning::Moved(at().unwrap())),
            (0, 301, None, failed("HTTP status 301", 22)),
            (0, 300, at(), failed("HTTP status 300", 22)),
            (0, 204, None, failed("HTTP status 204", 22)),
            (0, 206, None, failed("HTTP status 206", 22)),
            (0, 404, None, gone("HTTP status 404", 22)),
            (0, 410, None, gone("HTTP status 410", 22)),
            (0, 403, None, failed("HTTP status 403", 22)),
            (0, 500, None, failed("HTTP status 500", 22)),
            (18, 200, None, failed("cut", 18)),
            (78, 0, None, gone("cut", 78)),
        ] {
            let reply = Reply { code, status, location, text: "cut".into(), ..Reply::default() };
            assert_eq!(reply.meaning(), meaning, "{code} {status}");
        }
    }
}
