//! `--segments`, `--mirror` and `--metalink4`: one file over several connections and from several places.

mod command;
mod foreign;
pub mod sources;

use crate::options::ToolOption;
use crate::raw::EasyOption as O;
use crate::raw::segments::has_pieces;
pub use command::run;
pub use foreign::stripped;

use crate::request::{Clobber, Method, Request, Segments, Target};

/// Returns the number of segments of a target, by the flag or because there are mirrors; `None` for a plain
/// download.
pub fn wanted(request: &Request, target: &Target) -> Option<Segments> {
    let mirrors = !request.mirrors.is_empty() || !target.mirrors.is_empty();
    request.segments.or(mirrors.then_some(Segments::Auto))
}

/// Returns a description of an option that cannot be combined with segments.
pub fn conflict(request: &Request, target: &Target, scheme: &str) -> Option<&'static str> {
    let options = &request.options;
    let method = matches!(request.method, Method::Unspecified | Method::Get);
    let conflicts = [
        (!method || request.post.is_some() && !request.get || request.head, "a method other than GET"),
        (options.text(O::CustomRequest).is_some(), "--request"),
        (target.upload.is_some(), "--upload-file"),
        (options.text(O::Range).is_some(), "--range"),
        (request.resume.is_some(), "--continue-at: it resumes by itself"),
        (request.show_headers, "--show-headers"),
        (options.is_on(ToolOption::Compressed) || options.is_on(ToolOption::Raw), "--compressed and --raw"),
        (request.remote_header_name, "--remote-header-name"),
        (request.clobber == Clobber::Never, "--no-clobber"),
        (target.out_null, "--out-null"),
        (
            request.mirrors.len() + target.mirrors.len() > 0
                && request.url_count() > 1
                && target.mirrors.is_empty(),
            "--mirror of several URLs",
        ),
        (!has_pieces(scheme), "this scheme"),
    ];
    conflicts.iter().find(|(is, _)| *is).map(|(_, what)| *what)
}
