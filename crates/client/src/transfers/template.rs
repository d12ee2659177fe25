//! Requests that differ in their URLs only.

use tables::EasyOption;

use super::data::{Sink, Upload};
use super::request::Request;
use crate::Value;

/// A request that is repeated with other URLs. Its options are set on a handle once, however many of its
/// transfers follow each other on that handle.
pub struct Template {
    pub(super) request: Request,
    /// Whether an option is a command: those are repeated for each transfer.
    pub(super) has_commands: bool,
}

/// The URL of a transfer of a template, and the rest in which those transfers differ.
pub struct Start<'a> {
    /// The URL.
    pub url: &'a [u8],
    /// The range of the body ([`EasyOption::Range`]); `None` is the whole, unless the template has a range.
    pub range: Option<&'a str>,
    /// The destination of the body.
    pub sink: Sink,
    /// Whether an opened connection is news.
    pub reports_connection: bool,
}

impl Template {
    /// Creates a template from a request without a URL. Its sink is not used.
    pub fn new(request: Request) -> Template {
        let has_commands = request.options.iter().any(|(option, _)| *option == EasyOption::CookieList);
        Template { request, has_commands }
    }

    /// Returns all options of one transfer.
    pub(super) fn options(&self, start: &Start<'_>) -> Vec<(EasyOption, Value)> {
        let url = (EasyOption::Url, Value::Text(start.url.to_vec()));
        let range = start.range.map(|range| (EasyOption::Range, Value::from(range)));
        std::iter::once(url).chain(self.request.options.iter().cloned()).chain(range).collect()
    }

    pub(super) fn upload(&self) -> Upload {
        match &self.request.upload {
            Upload::Nothing => Upload::Nothing,
            Upload::Memory(pieces) => Upload::Memory(pieces.clone()),
            Upload::Fed => Upload::Fed,
        }
    }
}
