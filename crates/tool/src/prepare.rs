//! Prepares an item of the queue for its transfer: files, names, headers, the final URL, options.

mod known_hosts;
mod resuming;
mod saved;

use crate::apply::apply;
use crate::bytes::Bytes;
use crate::cache::partition;
use crate::checksum;
use crate::env::Env;
use crate::host_section::AppliedSections;
use crate::ipfs;
use crate::message::{os_text, shown};
use crate::names;
use crate::options::{ToolOption, Value};
use crate::outcome::{Completion, Output};
use crate::progress::{Bar, Meter};
use crate::queue::{Item, Sectioned};
use crate::raw::checksum::{Check, Sum};
use crate::raw::{
    CURL_VERSION, Code, Easy, EasyOption as O, OptionSet, Share, Url, UrlError, UrlPart, mime, url_flag,
};
use crate::request::{Method, Request, Resume};
use crate::segments;
use crate::settings::{Job, Setting, fixed_resume, settings};
use crate::sink::{Sink, create_directories};
use crate::spool::Spool;
use crate::system::path;
use crate::text::url_escape;
use crate::transfer::{Caching, Display, Parts, Transfer, Upload, open_upload};
use crate::url::parse_url;
use crate::writeout::write_out;
use std::fs::{self, File};
use std::rc::Rc;
use std::time::Instant;

/// CURLE numbers.
const FAILED_INIT: i32 = 2;
const UNSUPPORTED: i32 = 1;
const MALFORMED: i32 = 3;
const WRITE_ERROR: i32 = 23;
const READ_ERROR: i32 = 26;

/// A transfer and its options.
pub struct Prepared {
    pub transfer: Rc<Transfer>,
    pub easy: Easy,
    /// Only for `--libcurl`.
    pub settings: Vec<Setting>,
    /// Whether the output exists and must not be changed: then only `--write-out` remains.
    pub skip: bool,
    /// The expected sums of the file.
    pub sums: Vec<Sum>,
    /// Headers of every request.
    pub headers: Vec<Bytes>,
}

/// Why there is nothing to run.
pub enum Stop {
    /// Said already; the run ends with this code.
    Failed(i32),
    /// This transfer is skipped.
    LeftOut,
}

struct Prepare<'a> {
    env: &'a Rc<Env>,
    request: Rc<Request>,
    item: Item,
    job: Job,
    /// The offset at which the output continues, once it is known.
    resume_from: i64,
    /// The file that takes the body, once that is clear.
    out_name: Option<Bytes>,
    /// Whether the URL names the output.
    named: bool,
}

/// The setup of the previous transfer. The next one of its group mostly differs only in the URL.
pub struct Pattern {
    request: Rc<Request>,
    /// Without its URL.
    job: Job,
    settings: OptionSet,
    /// One that was set up so and has ended: it knows the way.
    ended: Option<Easy>,
}

/// Options whose setting has further effects beside the handle's settings.
const WITH_STORES: [O; 4] = [O::AltSvc, O::CookieFile, O::CookieJar, O::Hsts];

impl Pattern {
    /// Returns the pattern of a transfer; `None` if settings alone cannot repeat it.
    fn of(easy: &Easy, request: &Rc<Request>, job: &Job, list: &[Setting]) -> Option<Pattern> {
        let is_form = |setting: &Setting| matches!(setting.value, Value::Form(_));
        if job.upload || list.iter().any(|one| is_form(one) || WITH_STORES.contains(&one.option)) {
            return None;
        }
        let job = Job { url: Bytes::new(), ..job.clone() };
        let settings = easy.options();
        Some(Pattern { request: request.clone(), job, settings, ended: None })
    }

    /// A transfer of that request has ended.
    pub fn has_ended(&mut self, request: &Rc<Request>, easy: &Easy) {
        if Rc::ptr_eq(&self.request, request) {
            self.ended = Some(easy.clone());
        }
    }
}

pub fn prepare(
    env: &Rc<Env>,
    share: &Share,
    item: Item,
    parallel: bool,
    pattern: &mut Option<Pattern>,
) -> Result<Prepared, Stop> {
    let request = item.request.clone();
    let job = Job {
        url: item.url.clone(),
        upload: item.upload.is_some(),
        post: request.post.clone(),
        user_agent: format!("curl/{}", CURL_VERSION).into_bytes(),
        ..Job::default()
    };
    let resume_from = fixed_resume(&request);
    let mut this = Prepare { env, request, item, job, resume_from, out_name: None, named: false };
    let prepared = this.all(share, parallel, pattern);
    prepared.inspect_err(|stop| this.end(stop))
}

impl Prepare<'_> {
    fn all(
        &mut self,
        share: &Share,
        parallel: bool,
        pattern: &mut Option<Pattern>,
    ) -> Result<Prepared, Stop> {
        self.job.method = self.method()?;
        self.signing_key()?;
        self.implied_headers();
        let etag = self.etag()?;
        let heads = self.heads()?;
        let (out, skip) = self.output()?;
        self.out_name = out.name.clone();
        let (upload, size) = self.upload(skip)?;
        self.final_url()?;
        self.known_hosts()?;
        let sums = self.sums()?;
        let check = Check::new(sums.clone(), self.request.verify_digest);
        // A dialogue continues while nothing is typed.
        let upload = match upload {
            Upload::None | Upload::Stdin(_) if self.job.scheme == "telnet" => Upload::Trickle(None),
            Upload::Stdin(_) if self.request.retry_resume => {
                Upload::Spooled(Spool::new().map_err(|error| self.no_spool(&error))?)
            }
            upload => upload,
        };
        let to_terminal = matches!(out.stream, crate::sink::Stream::Stdout) && self.env.stdout_is_terminal;
        let output_expected = !self.job.upload || matches!(self.job.scheme.as_str(), "http" | "https");
        let quiet = to_terminal && output_expected;
        if to_terminal {
            self.env.shows_body.set(true);
        }
        self.job.resume_from = self.resume_from;
        let display = self.display(quiet, parallel);
        let explicit = self.item.output.as_deref() == Some(b"-");
        let transfer = Transfer::new(Parts {
            env: self.env.clone(),
            request: self.request.clone(),
            url: self.job.url.clone(),
            url_number: self.item.target.number,
            honour_name: self.honours_name(),
            guards_terminal: to_terminal && !explicit,
            out,
            heads,
            etag,
            upload,
            display,
            check,
        });
        transfer.restart_check().map_err(|error| {
            let name = shown(transfer.out.borrow().name.as_deref().unwrap_or_default());
            self.env.error(&format!("Failed to read {name} for its checksum: {}", os_text(&error)));
            Stop::Failed(READ_ERROR)
        })?;
        let easy = crate::why::handle(self.env, &self.request, transfer.clone());
        *transfer.easy.borrow_mut() = Some(easy.clone());
        easy.set_share(Some(share.clone()));
        let settings = self.set_up(&easy, &transfer, size, parallel, pattern)?;
        transfer.caching.replace(self.caching().map(Rc::new));
        transfer.started.set(Some(Instant::now()));
        let headers = self.headers();
        Ok(Prepared { transfer, easy, settings, skip, sums, headers })
    }

    /// Writes `--write-out`, which also applies to a transfer that failed before it started.
    fn write_out(&self, code: i32) {
        let Some(format) = self.request.options.text(ToolOption::WriteOut) else { return };
        let mut out = Sink::null();
        out.name = self.out_name.clone();
        let transfer = Transfer::new(Parts {
            env: self.env.clone(),
            request: self.request.clone(),
            url: if self.named { self.job.url.clone() } else { Bytes::new() },
            url_number: self.item.target.number,
            honour_name: false,
            guards_terminal: false,
            out,
            heads: None,
            etag: None,
            upload: Upload::None,
            display: Display::None,
            check: None,
        });
        let easy = Easy::new(transfer.clone());
        if self.named {
            let set = self.apply(&easy, &[Setting::new(O::Url, self.job.url.clone())]);
            debug_assert!(set.is_ok(), "any text is a URL until it is used");
        }
        write_out(format, &Completion { transfer: &transfer, easy: &easy, code }, &mut Output::new(self.env));
    }

    /// Which kind of request it is; two kinds at once are refused.
    fn method(&self) -> Result<Method, Stop> {
        let request = &self.request;
        let mut chosen = request.method;
        let mut want = |wanted: Method| {
            if chosen == Method::Unspecified || chosen == wanted {
                chosen = wanted;
                return Ok(());
            }
            let (wanted, chosen) = (wanted.flag(), chosen.flag());
            self.env.warn(&format!(
                "You can only select one HTTP request method! You asked for both {wanted} and {chosen}."
            ));
            Err(Stop::Failed(FAILED_INIT))
        };
        if request.post.is_some() {
            want(match (request.get, request.head) {
                (true, true) => Method::Head,
                (true, false) => Method::Get,
                (false, _) => Method::Post,
            })?;
        }
        if self.item.upload.is_some() {
            want(Method::Put)?;
        }
        if self.resume_from != 0 && matches!(chosen, Method::Post | Method::Form) {
            let flag = if chosen == Method::Post { "--data" } else { "--form" };
            self.env.error(&format!("cannot mix --continue-at with {flag}"));
            return Err(self.refused(Code::FailedInit));
        }
        if let Some(custom) = request.options.text(O::CustomRequest) {
            self.look_at_custom(custom, chosen);
        }
        Ok(chosen)
    }

    fn look_at_custom(&self, custom: &[u8], method: Method) {
        if custom.eq_ignore_ascii_case(method.verb().as_bytes()) {
            let verb = method.verb();
            self.env.note(&format!("Unnecessary use of -X or --request, {verb} is already inferred."));
        } else if custom.eq_ignore_ascii_case(b"head") {
            self.env.warn(
                "Setting custom HTTP method to HEAD with -X/--request may not work the way you want. Consider using \
                 -I/--head instead.",
            );
        }
    }

    /// Fails if messages have to be signed and there is no key.
    fn signing_key(&self) -> Result<(), Stop> {
        let options = &self.request.options;
        let asked = [O::HttpSigAlgorithm, O::HttpSigKeyId, O::HttpSigHeaders];
        if options.get(O::HttpSigKey).is_none() && asked.iter().any(|option| options.get(*option).is_some()) {
            self.env.error("--httpsig-key is needed to sign a request");
            return Err(Stop::Failed(FAILED_INIT));
        }
        Ok(())
    }

    fn implied_headers(&mut self) {
        if self.request.verify_digest {
            self.job.extra_headers.push(b"Want-Repr-Digest: sha-256=9, sha-512=8".to_vec());
        }
        if !self.request.json {
            return;
        }
        for (name, header) in
            [("Content-Type", "Content-Type: application/json"), ("Accept", "Accept: application/json")]
        {
            let given = self.request.options.list(O::HttpHeader).iter().any(|line| {
                let head = line.get(..name.len());
                let after = line.get(name.len());
                head.is_some_and(|head| head.eq_ignore_ascii_case(name.as_bytes()))
                    && matches!(after, Some(b':' | b';'))
            });
            if !given {
                self.job.extra_headers.push(header.into());
            }
        }
    }

    /// Returns the expected sums of the file, from the flag or from checksum files.
    fn sums(&self) -> Result<Vec<Sum>, Stop> {
        let mut sums = self.item.target.sums.clone();
        let list = &self.request.checksum_files;
        if list.is_empty() {
            return Ok(sums);
        }
        let path = parse_url(&self.item.url)
            .and_then(|url| url.get(UrlPart::Path, url_flag::URLDECODE).map_err(drop));
        let path = path.unwrap_or_default();
        let output = self.item.output.as_deref().filter(|name| *name != b"-");
        let names: Vec<_> = output.into_iter().chain([path.as_slice()]).map(checksum::last_part).collect();
        let found = checksum::sums_of(list, &names);
        if found.is_empty() {
            self.env.error(&format!("No checksum is listed for {}", shown(names[0])));
            return Err(Stop::Failed(FAILED_INIT));
        }
        sums.extend(found);
        Ok(sums)
    }

    fn etag(&mut self) -> Result<Option<Sink>, Stop> {
        let options = &self.request.options;
        if let Some(file) = options.text(ToolOption::EtagCompare) {
            let content = fs::read(path(file)).unwrap_or_else(|error| {
                let why = os_text(&error);
                self.env.warn(&format!("Failed to open {}: {why}", shown(file)));
                Vec::new()
            });
            let tag: Bytes = content.into_iter().filter(|byte| !matches!(byte, b'\r' | b'\n' | 0)).collect();
            let tag = if tag.is_empty() { b"\"\"".to_vec() } else { tag };
            self.job.extra_headers.push([b"If-None-Match: ", tag.as_slice()].concat());
        }
        match self.request.options.text(ToolOption::EtagSave) {
            None => Ok(None),
            Some(b"-") => Ok(Some(Sink::stdout())),
            Some(file) => self.etag_file(file).map(Some),
        }
    }

    fn etag_file(&self, file: &[u8]) -> Result<Sink, Stop> {
        self.directories(file)?;
        let mut sink = Sink::file(Some(file.to_vec()), self.request.clobber);
        if sink.append().is_err() {
            let file = shown(file);
            self.env.warn(&format!("Failed creating file for saving etags: \"{file}\". Skip this transfer"));
            return Err(Stop::LeftOut);
        }
        Ok(sink)
    }

    /// Prints the line that ends a command without a transfer; the error was reported before.
    fn refused(&self, code: Code) -> Stop {
        self.env.error_line(&format!("curl: ({}) {}", code.id(), code.text()));
        Stop::Failed(code.id())
    }

    fn directories(&self, file: &[u8]) -> Result<(), Stop> {
        let made = !self.request.create_dirs || create_directories(file, &mut self.env.messages.borrow_mut());
        if made { Ok(()) } else { Err(self.refused(Code::WriteError)) }
    }

    /// `--dump-header`: one file for all URLs of the group, emptied by the first.
    fn heads(&self) -> Result<Option<Sink>, Stop> {
        let file = match self.request.options.text(ToolOption::DumpHeader) {
            None => return Ok(None),
            Some(b"-") => return Ok(Some(Sink::stdout())),
            Some(b"%") => {
                let mut sink = Sink::stdout();
                sink.stream = crate::sink::Stream::Stderr;
                return Ok(Some(sink));
            }
            Some(file) => file,
        };
        self.directories(file)?;
        let emptied = if self.item.first { File::create(path(file)).map(drop) } else { Ok(()) };
        let mut sink = Sink::file(Some(file.to_vec()), self.request.clobber);
        if emptied.and_then(|()| sink.append()).is_err() {
            self.env.error(&format!("Failed to open {}", shown(file)));
            return Err(self.refused(Code::WriteError));
        }
        Ok(Some(sink))
    }

    /// Opens the destination of the body; returns whether the transfer is skipped.
    fn output(&mut self) -> Result<(Sink, bool), Stop> {
        let target = &self.item.target;
        if target.out_null {
            return Ok((Sink::null(), false));
        }
        let named = self.item.output.as_deref().filter(|name| *name != b"-");
        if named.is_none() && !target.remote_name {
            let mut sink = Sink::stdout();
            sink.unbuffered = self.request.no_buffer || self.env.stdout_is_terminal;
            sink.whole_lines = self.env.globals.parallel && !self.request.no_buffer;
            return Ok((sink, false));
        }
        if let Some(part) = self.part() {
            return Ok((self.begun_output(part)?, false));
        }
        let name = match named {
            Some(name) => name.to_vec(),
            None => self.remote_name()?,
        };
        let name = names::in_directory(self.request.options.text(ToolOption::OutputDir), &name);
        self.directories(&name)?;
        let exists = self.request.skip_existing && fs::metadata(path(&name)).is_ok();
        if exists {
            self.env.note(&format!("skips transfer, \"{}\" exists locally", shown(&name)));
        }
        let mut sink = Sink::file(Some(name.clone()), self.request.clobber);
        sink.unbuffered = self.request.no_buffer;
        sink.named_by_server = self.item.target.output_by_document;
        self.resume_output(&mut sink, &name)?;
        Ok((sink, exists))
    }

    fn resume_output(&mut self, sink: &mut Sink, name: &[u8]) -> Result<(), Stop> {
        if self.request.resume == Some(Resume::Current) && !self.job.upload {
            self.resume_from = fs::metadata(path(name)).map_or(0, |meta| meta.len() as i64);
        }
        if self.resume_from == 0 {
            return Ok(());
        }
        if sink.append().is_err() {
            self.env.messages.borrow_mut().usage(&format!("cannot open '{}'", shown(name)));
            return Err(Stop::Failed(WRITE_ERROR));
        }
        Ok(())
    }

    fn remote_name(&self) -> Result<Bytes, Stop> {
        let Ok(url) = parse_url(&self.item.url) else {
            self.env.error("Failed to extract a filename from the URL to use for storage");
            return Err(self.refused(Code::UrlMalformat));
        };
        let path = url.get(UrlPart::Path, 0).unwrap_or_default();
        let (name, found) = names::from_url(&path);
        if !found {
            self.env.warn(&format!("No remote filename, uses \"{}\"", shown(&name)));
        }
        Ok(name)
    }

    fn upload(&mut self, skip: bool) -> Result<(Upload, Option<u64>), Stop> {
        let Some(file) = self.item.upload.clone() else { return Ok((Upload::None, None)) };
        let standard = matches!(file.as_slice(), b"-" | b".");
        // An upload of its own has a URL of its own.
        let is_own = self.request.creates_upload() && matches!(&*self.scheme(), "http" | "https");
        if !standard && !is_own {
            self.name_in_url(&file)?;
        }
        self.named = true;
        if self.request.resume == Some(Resume::Current) {
            self.resume_from = -1; // the server has to be asked
        }
        let options = &self.request.options;
        let several = options.long(O::HttpAuth).is_some_and(|mask| mask.count_ones() > 1);
        if standard && (several || self.request.proxy_auth.any) {
            self.env.warn(
                "Using --anyauth or --proxy-anyauth with upload from stdin involves a big risk of it not working. Use \
                 a temporary file or a fixed auth type instead",
            );
        }
        if skip {
            return Ok((Upload::None, None));
        }
        open_upload(&file).map_err(|_| {
            self.env.messages.borrow_mut().usage(&format!("cannot open '{}'", shown(&file)));
            self.refused(Code::ReadError)
        })
    }

    /// Returns the state for `--cache`; none for a file fetched in segments.
    fn caching(&self) -> Option<Caching> {
        self.env.cache.as_ref()?;
        let http = matches!(self.job.scheme.as_str(), "http" | "https");
        if !http || segments::wanted(&self.request, &self.item.target).is_some() {
            return None;
        }
        let options = partition::of_options(&settings(&self.request, &self.env.globals, &self.job));
        Some(Caching::new(options, partition::bypass(&self.request), &self.request))
    }

    /// Returns the user's headers, and those that other flags imply.
    fn headers(&self) -> Vec<Bytes> {
        let given = self.request.options.list(O::HttpHeader).iter();
        given.chain(&self.job.extra_headers).cloned().collect()
    }

    /// A URL that ends in a slash gets the name of the uploaded file.
    fn name_in_url(&mut self, file: &[u8]) -> Result<(), Stop> {
        let url = parse_url(&self.job.url).map_err(|()| self.refused(Code::UrlMalformat))?;
        let path = url.get(UrlPart::Path, 0).unwrap_or_default();
        if url.query().is_some() || !path.ends_with(b"/") {
            return Ok(());
        }
        let name = url_escape(names::upload_name(file));
        let mut named = url.clone();
        let path = [path.as_slice(), &name].concat();
        if named.set(UrlPart::Path, Some(&path), 0).is_ok()
            && let Ok(text) = named.get(UrlPart::Url, url_flag::GUESS_SCHEME | url_flag::NO_GUESS_SCHEME)
        {
            self.job.url = text;
        }
        Ok(())
    }

    fn final_url(&mut self) -> Result<(), Stop> {
        self.named = true;
        let query = match (&self.request.post, self.request.get) {
            // A URL is text, which ends at the first NUL.
            (Some(post), true) => post.split(|byte| *byte == 0).next().map(<[u8]>::to_vec),
            _ => self.request.query.clone(),
        };
        if let Some(query) = query {
            self.append_query(&query)?;
        }
        let scheme = self.scheme();
        if matches!(scheme.as_str(), "ipfs" | "ipns") {
            let gateway = self.request.options.text(ToolOption::IpfsGateway);
            self.job.url = ipfs::rewrite(&self.job.url, &scheme, gateway).map_err(|why| {
                self.env.messages.borrow_mut().usage(why.text());
                Stop::Failed(why.exit_code())
            })?;
            let url = parse_url(&self.job.url).ok();
            self.job.scheme = url.and_then(|url| url.scheme()).unwrap_or_default();
            return Ok(());
        }
        self.job.scheme = scheme;
        Ok(())
    }

    /// Returns the scheme as the library will determine it: --proto-default applies if the URL has none
    /// (CVE-2026-12064: options that depend on it, such as the check of a host's key, must be set then).
    fn scheme(&self) -> String {
        // Most are written out, and need no parser.
        let is = |name: &&str| {
            self.job.url.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.starts_with(b"://"))
        };
        if let Some(name) = ["https", "http"].into_iter().find(is) {
            return name.to_owned();
        }
        let of = |flags| Url::parse(&self.job.url, flags | url_flag::NON_SUPPORT_SCHEME).ok()?.scheme();
        let given =
            || self.request.options.text(O::DefaultProtocol).map(|text| String::from_utf8_lossy(text).into());
        let scheme: Option<String> = of(0).or_else(given).or_else(|| of(url_flag::GUESS_SCHEME));
        scheme.unwrap_or_default().to_ascii_lowercase()
    }

    fn append_query(&mut self, query: &[u8]) -> Result<(), Stop> {
        let mut url = Url::parse(&self.job.url, url_flag::GUESS_SCHEME).map_err(|why| {
            let code = if why == UrlError::UnsupportedScheme { UNSUPPORTED } else { MALFORMED };
            self.env.error(&format!("({code}) Could not parse the URL, failed to set query"));
            Stop::Failed(code)
        })?;
        let appended = url.set(UrlPart::Query, Some(query), url_flag::APPENDQUERY);
        match appended.and_then(|()| url.get(UrlPart::Url, url_flag::NO_GUESS_SCHEME)) {
            Ok(text) => {
                self.job.url = text;
                Ok(())
            }
            Err(_) => Err(Stop::Failed(MALFORMED)),
        }
    }

    fn display(&self, quiet: bool, parallel: bool) -> Display {
        let globals = &self.env.globals;
        if globals.no_progress || globals.silent || quiet {
            Display::None
        } else if parallel {
            Display::Counted
        } else if self.env.shows_bars() {
            Display::Named(None)
        } else if globals.progress_bar {
            let columns = self.env.messages.borrow().columns();
            Display::Bar(Bar::new(columns, self.resume_from.max(0)))
        } else {
            Display::Meter(Meter::resumed(self.resume_from))
        }
    }

    /// Sets the options of the handle; all of them if `--libcurl` writes them.
    fn set_up(
        &mut self,
        easy: &Easy,
        transfer: &Transfer,
        size: Option<u64>,
        parallel: bool,
        pattern: &mut Option<Pattern>,
    ) -> Result<Vec<Setting>, Stop> {
        self.apply_sections(transfer);
        easy.set_priority(self.request.options.priority());
        let url = std::mem::take(&mut self.job.url);
        let last = pattern.as_ref().filter(|last| Rc::ptr_eq(&last.request, &self.request));
        let last = last.filter(|last| last.job == self.job);
        self.job.url = url;
        if let Some(last) = last {
            easy.set_options(&last.settings);
            if let Some(ended) = &last.ended {
                easy.follow(ended);
            }
            return self.apply(easy, &[Setting::new(O::Url, self.job.url.clone())]).map(|()| Vec::new());
        }
        let mut list = settings(&self.request, &self.env.globals, &self.job);
        if let Some(size) = size {
            list.push(Setting::new(O::InFileSizeLarge, size as i64));
        }
        if let Some(resuming) = self.resuming(transfer, size, &mut list)? {
            resuming.set_up(easy);
            transfer.resuming.replace(Some(resuming));
        }
        self.apply(easy, &list)?;
        self.begin_saved(transfer)?;
        // In parallel it is worth waiting for a stream, unless connections should be opened at once.
        let waits = parallel && !self.env.globals.parallel_immediate;
        let waits = easy.set(O::PipeWait, waits);
        debug_assert!(waits.is_ok(), "any number is one");
        let by_itself = self.env.globals.libcurl.is_some() || self.request.retry_resume;
        *pattern = if by_itself { None } else { Pattern::of(easy, &self.request, &self.job, &list) };
        Ok(list)
    }

    /// Notes the options of sections, so that they can be taken back.
    fn apply_sections(&self, transfer: &Transfer) {
        if let Some(Sectioned { numbers, without }) = &self.item.sectioned {
            let of = |request: &Request| settings(request, &self.env.globals, &self.job);
            let applied = AppliedSections::new(numbers.clone(), &of(without), &of(&self.request));
            transfer.sections.replace(Some(applied));
        }
    }

    fn apply(&self, easy: &Easy, list: &[Setting]) -> Result<(), Stop> {
        let backslashes = self.request.options.is_on(O::MimeOptions);
        let escape = if backslashes { mime::Escape::Backslash } else { mime::Escape::Percent };
        apply(easy, list, escape).map_err(|code| self.refused(code))
    }
}
