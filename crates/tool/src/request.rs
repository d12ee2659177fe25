//! The parsed command line: one [`Request`] for each group between `--next`, and the [`Globals`] of the whole
//! line.
//!
//! Nothing here has side effects; `operate` turns requests into transfers.

use crate::bytes::Bytes;
use crate::checksum;
use crate::form::part::{Content, Part};
use crate::host_pattern::HostPattern;
use crate::mirror::MirrorOptions;
use crate::options::Options;
use crate::raw::checksum::Sum;
use crate::raw::{EasyOption as O, UploadMode};
use crate::status::StatusSet;
use crate::trace::{Layers, TraceKind};
use std::time::Duration;
use warmwire::process_pool::Pool;

/// The kind of HTTP request that the flags ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    #[default]
    Unspecified,
    Get,
    Head,
    Form,
    Post,
    Put,
}

impl Method {
    /// Returns the name for the warning about two methods.
    pub fn flag(self) -> &'static str {
        match self {
            Method::Unspecified => "",
            Method::Get => "GET (-G, --get)",
            Method::Head => "HEAD (-I, --head)",
            Method::Form => "multipart formpost (-F, --form)",
            Method::Post => "POST (-d, --data)",
            Method::Put => "PUT (-T, --upload-file)",
        }
    }

    pub fn verb(self) -> &'static str {
        match self {
            Method::Unspecified | Method::Get => "GET",
            Method::Head => "HEAD",
            Method::Form | Method::Post => "POST",
            Method::Put => "PUT",
        }
    }
}

/// The treatment of an existing file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clobber {
    /// Overwrite, but never a file named by the server.
    #[default]
    Default,
    Never,
    Always,
}

/// How many connections a file is fetched over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segments {
    Auto,
    Count(usize),
}

/// The form of `--why`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyFormat {
    Text,
    Json,
}

/// The form of `--summary` and `--queue-list`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SummaryFormat {
    Table,
    Json,
}

/// When an HTTP error fails the transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fail {
    #[default]
    Never,
    WithBody,
    WithoutBody,
}

/// A URL with the output and upload that belong to it; they are matched up in order.
#[derive(Clone, Debug, Default)]
pub struct Target {
    pub url: Option<Bytes>,
    pub output: Option<Bytes>,
    pub upload: Option<Bytes>,
    /// The expected sums.
    pub sums: Vec<Sum>,
    /// Mirrors from a Metalink.
    pub mirrors: Vec<Bytes>,
    /// Whether a Metalink named the URL: nothing that identifies the user is sent there.
    pub url_by_document: bool,
    /// Whether a Metalink named the output: it overwrites nothing by default.
    pub output_by_document: bool,
    /// Save under the remote name.
    pub remote_name: bool,
    pub out_null: bool,
    /// Read from a file of URLs: taken literally.
    pub no_glob: bool,
    /// Its number on the command line, for `%{urlnum}`.
    pub number: usize,
}

/// Options that are matched with URLs in the order of the command line.
#[derive(Clone, Copy, Debug)]
pub enum Lacks {
    Url,
    Output,
    Upload,
    Sums,
}

#[derive(Clone, Debug, Default)]
pub struct ProxyAuth {
    pub any: bool,
    pub basic: bool,
    pub digest: bool,
    pub negotiate: bool,
    pub ntlm: bool,
}

/// A group of options and its URLs.
#[derive(Clone, Debug, Default)]
pub struct Request {
    pub options: Options,
    pub targets: Vec<Target>,
    /// How many targets have a URL, an output, an upload, sums.
    pub matched: [usize; 4],
    pub post: Option<Bytes>,
    pub json: bool,
    pub query: Option<Bytes>,
    pub form: Vec<Part>,
    /// How many nested parts of the form are still open.
    pub form_depth: usize,
    pub method: Method,
    pub cookies: Vec<Bytes>,
    pub cookie_files: Vec<Bytes>,
    /// The options that the command line and entries have given, in the form of an input file.
    pub own_options: Vec<Bytes>,
    /// Files of URLs with their options.
    pub input_files: Vec<Bytes>,
    /// Mirrors of the URL's file.
    pub mirrors: Vec<Bytes>,
    pub segments: Option<Segments>,
    /// Sums of files by name.
    pub checksum_files: Vec<checksum::Entry>,
    pub proxy_auth: ProxyAuth,
    pub clobber: Clobber,
    pub fail: Fail,
    /// The statuses that fail the transfer, if they are not all from 400 on.
    pub fail_on: Option<StatusSet>,
    /// 0 none, 1 all, 2 as the standard says.
    pub follow: i64,
    pub resume: Option<Resume>,
    pub retries: i64,
    pub retry_delay_ms: i64,
    pub retry_max_ms: i64,
    /// For all attempts together.
    pub deadline_ms: i64,
    pub tls_min: u8,
    pub tls_max: u8,
    /// Whether the file is named by Content-Disposition as RFC 6266 says.
    pub content_disposition: bool,
    pub create_dirs: bool,
    pub doh_insecure: bool,
    pub ftp_ccc: Option<i64>,
    pub get: bool,
    pub globoff: bool,
    pub head: bool,
    pub insecure: bool,
    pub mptcp: bool,
    pub netrc: bool,
    pub netrc_optional: bool,
    pub no_buffer: bool,
    pub proxy_insecure: bool,
    pub remote_header_name: bool,
    pub remote_name_all: bool,
    pub remote_time: bool,
    pub remove_on_error: bool,
    pub retry_all_errors: bool,
    pub retry_connrefused: bool,
    pub retry_resume: bool,
    pub show_headers: bool,
    pub skip_existing: bool,
    pub ssl_control: bool,
    pub ssl_required: bool,
    pub ssl_try: bool,
    /// How an upload over HTTP is made, if not by a plain request.
    pub upload_protocol: Option<UploadMode>,
    pub verify_digest: bool,
    pub xattr: bool,
}

/// The start of a resumed transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resume {
    /// At the size of the existing file.
    Current,
    At(u64),
}

impl Request {
    pub fn new() -> Request {
        let mut request = Request::default();
        request.options.set_long(O::MaxRedirs, 50);
        request
    }

    /// Returns whether the group has a URL, or a file of URLs.
    pub fn names_urls(&self) -> bool {
        !self.input_files.is_empty() || self.targets.first().is_some_and(|target| target.url.is_some())
    }

    /// Returns whether a file is resumed whose name only the server will say.
    pub fn resumes_unnamed(&self) -> bool {
        self.remote_header_name && self.resume == Some(Resume::Current)
    }

    /// Returns whether the URL of an upload over HTTP creates another one, which is the upload's.
    pub fn creates_upload(&self) -> bool {
        matches!(self.upload_protocol, Some(UploadMode::Tus | UploadMode::Draft))
    }

    /// Returns whether a transfer fails for the status of its response. The library itself checks `--fail`.
    pub fn fails_on(&self, status: i64, is_http: bool) -> bool {
        match &self.fail_on {
            Some(statuses) => is_http && statuses.contains(status),
            None => self.fail == Fail::WithBody && status >= 400,
        }
    }

    /// Returns whether the library fails the transfer for each status from 400 on.
    pub fn fails_in_library(&self) -> bool {
        self.fail == Fail::WithoutBody && self.fail_on.is_none()
    }

    /// Returns the number of URLs.
    pub fn url_count(&self) -> usize {
        self.matched[Lacks::Url as usize]
    }

    /// Returns the first target that lacks this, or a new one. A target never loses anything, so none is
    /// examined twice: there may be a million.
    pub fn next_target(&mut self, lacks: Lacks, number: &mut usize) -> &mut Target {
        let index = self.matched[lacks as usize];
        self.matched[lacks as usize] += 1;
        if index == self.targets.len() {
            let remote_name = self.remote_name_all;
            self.targets.push(Target { remote_name, number: *number, ..Target::default() });
            *number += 1;
        }
        &mut self.targets[index]
    }

    /// Adds a part to the innermost open one.
    pub fn push_part(&mut self, part: Part) {
        push_at(&mut self.form, self.form_depth, part);
    }
}

fn push_at(list: &mut Vec<Part>, depth: usize, part: Part) {
    match list.last_mut() {
        Some(Part { content: Content::Parts(inner), .. }) if depth > 0 => push_at(inner, depth - 1, part),
        _ => list.push(part),
    }
}

/// A section of a config file: its hosts, and its options as a request.
#[derive(Clone, Debug)]
pub struct HostSection {
    pub hosts: Vec<HostPattern>,
    pub request: Request,
}

/// Options of the whole command line.
#[derive(Clone, Debug)]
pub struct Globals {
    /// The folder of a cache.
    pub cache: Option<Bytes>,
    pub cache_size: Option<u64>,
    pub dry_run: bool,
    /// The command of `--exec`.
    pub exec: Option<Bytes>,
    pub fail_early: bool,
    /// `--follow-names`; `None` leaves it to the pool.
    pub follow_names: Option<bool>,
    pub har: Option<Bytes>,
    pub libcurl: Option<Bytes>,
    pub no_progress: bool,
    pub parallel: bool,
    pub parallel_immediate: bool,
    pub parallel_max: usize,
    pub parallel_max_host: usize,
    /// The file of the policy that all transfers must satisfy.
    pub policy: Option<Bytes>,
    pub pool: Option<Pool>,
    /// The file of a saved queue.
    pub queue: Option<Bytes>,
    pub queue_list: Option<SummaryFormat>,
    /// Which entries of the queue are removed.
    pub queue_remove: Option<Bytes>,
    pub progress_bar: bool,
    pub progress_bars: bool,
    /// Minimum time between the starts of two transfers.
    pub rate_ms: u64,
    /// The folder that exchanges are recorded to.
    pub record: Option<Bytes>,
    /// The folder that exchanges are replayed from.
    pub replay: Option<Bytes>,
    /// Sections of config files, in order.
    pub sections: Vec<HostSection>,
    pub show_error: bool,
    pub silent: bool,
    pub ssl_sessions: Option<Bytes>,
    pub styled: bool,
    pub summary: Option<SummaryFormat>,
    pub timeline: Option<Bytes>,
    pub trace: TraceKind,
    pub layers: Layers,
    pub mirror: MirrorOptions,
    pub trace_config_given: bool,
    pub trace_file: Option<Bytes>,
    pub trace_ids: bool,
    pub trace_time: bool,
    pub verbosity: u8,
    /// The interval of `--watch`.
    pub watch: Option<Duration>,
    pub watch_json: bool,
    pub why: Option<WhyFormat>,
    pub explain_cert: Option<WhyFormat>,
}

impl Globals {
    /// Whether requests and answers are to be reported afterwards.
    pub fn reports(&self) -> bool {
        self.har.is_some() || self.timeline.is_some()
    }
}

impl Default for Globals {
    fn default() -> Globals {
        Globals {
            cache: None,
            cache_size: None,
            dry_run: false,
            exec: None,
            fail_early: false,
            follow_names: None,
            har: None,
            libcurl: None,
            no_progress: false,
            parallel: false,
            parallel_immediate: false,
            parallel_max: 50,
            parallel_max_host: 0,
            policy: None,
            pool: None,
            queue: None,
            queue_list: None,
            queue_remove: None,
            progress_bar: false,
            progress_bars: false,
            rate_ms: 0,
            record: None,
            replay: None,
            sections: Vec::new(),
            show_error: false,
            silent: false,
            ssl_sessions: None,
            styled: true,
            summary: None,
            timeline: None,
            trace: TraceKind::None,
            layers: Layers::default(),
            mirror: MirrorOptions::default(),
            trace_config_given: false,
            trace_file: None,
            trace_ids: false,
            trace_time: false,
            verbosity: 0,
            watch: None,
            watch_json: false,
            why: None,
            explain_cert: None,
        }
    }
}
