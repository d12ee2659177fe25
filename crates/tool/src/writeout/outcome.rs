//! The facts about a finished transfer that variables are read from.

use crate::bytes::Bytes;
use crate::raw::Info;

/// Facts about a finished transfer.
pub trait Outcome {
    /// A text among the infos of libcurl.
    fn text(&self, info: Info) -> Option<Bytes>;
    /// A number among the infos; times are in microseconds.
    fn number(&self, info: Info) -> Option<i64>;
    /// Returns a part of the URL that was set, or of the effective one.
    fn url_part(&self, part: &str, effective: bool) -> Option<Bytes>;
    /// Headers of all answers: name, value, and the number of the request.
    fn headers(&self) -> Vec<(Bytes, Bytes, usize)>;
    /// Certificates in PEM form.
    fn certificates(&self) -> Vec<Bytes>;
    /// The exit code of this transfer.
    fn exit_code(&self) -> i32;
    /// Returns the message for it.
    fn error_text(&self) -> Option<Bytes>;
    fn file_name(&self) -> Option<Bytes>;
    fn given_url(&self) -> Option<Bytes>;
    fn url_number(&self) -> usize;
    fn retries(&self) -> i64;
    fn header_count(&self) -> i64;
    /// Returns the role of the cache for the reply; `None` without a cache.
    fn cache(&self) -> Option<Bytes>;
    /// Returns the requests of the transfer as a JSON array; `None` if its reasons were not kept.
    fn requests(&self) -> Option<Bytes>;
    /// Returns the reasons of the transfer; `None` if they were not kept.
    fn why(&self) -> Option<Bytes>;
    /// Returns the line of `curl_version`.
    fn version(&self) -> Bytes;
}
