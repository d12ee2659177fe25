//! A run: the attempts of its transfers, their results, and the reports at the end.

use crate::env::Env;
use crate::libcurl::Program;
use crate::message::{Messages, os_text, shown};
use crate::options::ToolOption;
use crate::outcome::{Completion, Output, message};
use crate::prepare::{Pattern, Prepared, Stop, prepare};
use crate::queue::Item;
use crate::raw::archive;
use crate::raw::checksum::Check;
use crate::raw::{Easy, EasyOption as O, Info, Limits, Multi, Origin, Share};
use crate::report::{Reports, Summary, TransferSummary};
use crate::retry::{Attempt, Retries, Verdict, deadline};
use crate::sink::{remove, set_time};
use crate::system::{self, Interrupt, path};
use crate::transfer::{FailedAttempt, Resuming, Transfer, flush_stdout};
use crate::url::without_login;
use crate::why;
use crate::writeout::{Outcome, write_out};
use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// CURLE numbers.
const FAILED_INIT: i32 = 2;
const HTTP_ERROR: i32 = 22;
const WRITE_ERROR: i32 = 23;
const OUT_OF_MEMORY: i32 = 27;
const BAD_ARGUMENT: i32 = 43;
const UNKNOWN_OPTION: i32 = 48;
const RANGE_ERROR: i32 = 33;
const RECV_ERROR: i32 = 56;
const BAD_CERTIFICATE: i32 = 60;
/// CURLINFO_FILETIME_T(3): the server reported no time.
const NO_TIME: i64 = -1;

/// State of a run besides its transfers.
pub struct Run {
    pub env: Rc<Env>,
    pub multi: Multi,
    pub share: Share,
    pub program: Option<RefCell<Program>>,
    reports: Option<RefCell<Reports>>,
    summary: Option<RefCell<Summary>>,
    /// Set if reports have to be written after Ctrl-C.
    interrupt: Option<Interrupt>,
    pattern: RefCell<Option<Pattern>>,
}

/// A transfer under way.
pub struct Job {
    pub transfer: Rc<Transfer>,
    pub easy: Easy,
    pub retries: Retries,
    pub first_attempt: Instant,
    /// Number of the concurrent transfer, counted from one.
    pub number: u64,
}

/// The step after an attempt.
pub enum After {
    Again(Duration),
    Over(i32),
}

impl Run {
    pub fn new(env: Rc<Env>, share: Share) -> Run {
        let program = env.globals.libcurl.as_ref().map(|_| RefCell::new(Program::default()));
        let reports = env.globals.reports().then(|| RefCell::new(Reports::new()));
        let summary = env.globals.summary.map(|format| RefCell::new(Summary::new(format)));
        let multi = Multi::default();
        multi.set_limits(Limits { max_host: env.globals.parallel_max_host, ..Limits::default() });
        let reporting = reports.is_some() || summary.is_some();
        let interrupt = if reporting { Interrupt::watch(multi.waker()) } else { None };
        Run { env, multi, share, program, reports, summary, interrupt, pattern: RefCell::default() }
    }

    /// Writes the reports and closes the connections after the last transfer. Returns the exit code, given
    /// that of the transfers.
    pub fn finish(&self, code: i32) -> i32 {
        self.write_program();
        let reported = self.write_reports();
        let _ = flush_stdout();
        self.write_summary();
        self.multi.close();
        if self.is_interrupted() {
            system::end_process();
        }
        if code == 0 && !reported { WRITE_ERROR } else { code }
    }

    /// Returns whether the run has to stop for Ctrl-C.
    pub fn is_interrupted(&self) -> bool {
        self.interrupt.as_ref().is_some_and(Interrupt::has_come)
    }

    /// Sleeps, but not longer than until Ctrl-C.
    pub fn sleep(&self, pause: Duration) {
        match &self.interrupt {
            Some(interrupt) => interrupt.sleep(pause),
            None => std::thread::sleep(pause),
        }
    }

    pub fn prepare(&self, item: Item) -> Result<Prepared, Stop> {
        let prepared =
            prepare(&self.env, &self.share, item, self.env.globals.parallel, &mut self.pattern.borrow_mut())?;
        if let Some(program) = &self.program {
            program.borrow_mut().add(&prepared.settings);
        }
        Ok(prepared)
    }

    /// Waits for the network, and for standard input where an upload wants more of it. Fails if the run is
    /// interrupted.
    pub fn wait(&self, jobs: &[Job], pause: Duration) -> io::Result<()> {
        self.wait_on(jobs, pause)?;
        if self.is_interrupted() { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
    }

    fn wait_on(&self, jobs: &[Job], pause: Duration) -> io::Result<()> {
        let hungry = || jobs.iter().filter(|job| job.transfer.wants_input.get());
        if hungry().next().is_none() {
            return self.multi.wait(&mut [], pause, true).map(drop);
        }
        if system::wait_with_input(&self.multi, pause)? {
            for job in hungry() {
                job.transfer.wants_input.set(false);
                job.easy.pause(0);
            }
        }
        Ok(())
    }

    /// Decides after an attempt whether another one follows.
    pub fn after(&self, job: &mut Job, code: i32) -> After {
        let transfer = &job.transfer;
        transfer.finish_progress(code);
        let code = self.say_error(transfer, &job.easy, code);
        let code = self.finish_output(transfer, &job.easy, code);
        let code = self.finish_resuming(transfer, code);
        let code = self.compare(transfer, &job.easy, code);
        let code = self.compare_upload(transfer, &job.easy, code);
        transfer.finish_caching(code);
        let verdict = job.easy.info(|info| {
            job.retries.after(Attempt {
                code,
                response: info.response_code(),
                scheme: &info.scheme().to_ascii_lowercase(),
                os_errno: job.easy.os_errno(),
                retry_after_s: info.retry_after(),
                condemned: transfer.condemned.get(),
                changed: transfer.resuming.borrow().as_ref().is_some_and(Resuming::has_changed),
                later: job.easy.upload_must_wait(),
                lost_part: transfer
                    .resuming
                    .borrow()
                    .as_ref()
                    .is_some_and(|resuming| resuming.has_lost_part(code)),
                elapsed: job.first_attempt.elapsed(),
            })
        });
        match verdict {
            Verdict::Again { pause, why, left } => match self.prepare_retry(job, pause, why, left) {
                Ok(()) => After::Again(pause),
                Err(code) => After::Over(self.end(&job.transfer, &job.easy, code, false)),
            },
            Verdict::TooLong => {
                self.env.warn(
                    "The Retry-After: time would make this command line exceed the maximum allowed time for retries.",
                );
                After::Over(self.end(transfer, &job.easy, code, false))
            }
            Verdict::Over => After::Over(self.end(transfer, &job.easy, code, false)),
        }
    }

    fn prepare_retry(&self, job: &Job, pause: Duration, why: &str, left: i64) -> Result<(), i32> {
        let (seconds, millis) = (pause.as_secs(), pause.subsec_millis());
        let plural = if left == 1 { "retry" } else { "retries" };
        let shown = if millis == 0 { seconds.to_string() } else { format!("{seconds}.{millis:03}") };
        let unit = if seconds == 1 && millis == 0 { "second" } else { "seconds" };
        self.env.warn(&format!("Problem {why}. Retrying in {shown} {unit}. {left} {plural} left."));
        job.transfer.retries.set(job.retries.done);
        self.count_moved(&job.easy);
        match job.transfer.prepare_retry() {
            Ok(FailedAttempt::Kept(0) | FailedAttempt::Thrown(0)) => Ok(()),
            Ok(FailedAttempt::Kept(bytes)) => {
                self.env.note(&format!("Keeping {bytes} bytes"));
                Ok(())
            }
            Ok(FailedAttempt::Thrown(bytes)) => {
                self.env.note(&format!("Throwing away {bytes} bytes"));
                Ok(())
            }
            Err(error) => {
                self.env.error(match error.kind() {
                    io::ErrorKind::NotSeekable => "Written output can't be undone",
                    _ => "Failed to truncate file",
                });
                Err(WRITE_ERROR)
            }
        }
    }

    /// The line about a failure; an HTTP error may make one of a success.
    fn say_error(&self, transfer: &Transfer, easy: &Easy, code: i32) -> i32 {
        if (code == 0 || transfer.refused_body.get())
            && let Some(status) = transfer.failing_status()
        {
            let text = format!("The requested URL returned error: {status}");
            self.env.error_line(&format!("curl: ({HTTP_ERROR}) {text}"));
            transfer.own_error.replace(Some(text));
            return HTTP_ERROR;
        }
        if code != 0 && !transfer.error_reported.get() {
            let text = message(easy, code);
            self.env.error_line(&format!("curl: ({code}) {text}"));
            if code == BAD_CERTIFICATE {
                self.env.error_line(CERTIFICATE_HELP);
            }
            if let Some(why) = transfer.proxy_command_failure() {
                self.env.error_line(&format!("curl: the command of --proxy-command {why}"));
            }
        }
        code
    }

    /// Writes buffered output; a success without data creates an empty file.
    fn finish_output(&self, transfer: &Transfer, easy: &Easy, code: i32) -> i32 {
        let mut code = code;
        if code == 0 && !transfer.finish_headers() {
            code = WRITE_ERROR;
        }
        let unmet = easy.info(|info| info.condition_unmet() || info.response_code() == 304);
        let mut out = transfer.out.borrow_mut();
        if code == 0 && !out.is_open() && !unmet && !out.open(&mut self.env.messages.borrow_mut()) {
            code = WRITE_ERROR;
        }
        if let Err(error) = out.flush()
            && code == 0
        {
            out.report_full_disk(&error, &mut self.env.messages.borrow_mut());
            self.env.error("Failed writing body");
            code = WRITE_ERROR;
        }
        code
    }

    /// Judges the result of an attempt that requested the rest.
    fn finish_resuming(&self, transfer: &Transfer, code: i32) -> i32 {
        let Some((code, why)) = transfer.resumed(code) else { return code };
        self.env.error_line(&format!("curl: ({code}) {why}"));
        transfer.own_error.replace(Some(why));
        code
    }

    /// Compares the received data with the expected sums.
    fn compare(&self, transfer: &Transfer, easy: &Easy, code: i32) -> i32 {
        let check = transfer.check.borrow();
        let Some(check) = check.as_ref().filter(|_| code == 0 && !transfer.request.head) else { return code };
        let (unmet, part) = easy.info(|info| {
            let request = &transfer.request;
            let ranged = request.options.text(O::Range).is_some();
            let elsewhere = request.resume.is_some() && !transfer.out.borrow().is_file();
            let part = info.response_code() == 206 && (ranged || elsewhere);
            (info.condition_unmet() || info.response_code() == 304, part)
        });
        if unmet {
            return code;
        }
        match check.compare_sums().and_then(|()| self.compare_fields(transfer, easy, check, part)) {
            Ok(()) => code,
            Err(why) => {
                transfer.condemned.set(true);
                self.env.error_line(&format!("curl: ({RECV_ERROR}) {why}"));
                transfer.own_error.replace(Some(why));
                RECV_ERROR
            }
        }
    }

    /// Compares what the server says of an upload that may continue.
    fn compare_upload(&self, transfer: &Transfer, easy: &Easy, code: i32) -> i32 {
        let compared = if code == 0 { transfer.compare_upload(easy) } else { Ok(()) };
        let Err(why) = compared else { return code };
        self.env.error_line(&format!("curl: ({RANGE_ERROR}) {why}"));
        transfer.own_error.replace(Some(why));
        RANGE_ERROR
    }

    /// Compares with Repr-Digest and Content-Digest; the first does not apply to a part.
    fn compare_fields(
        &self,
        transfer: &Transfer,
        easy: &Easy,
        check: &Check,
        part: bool,
    ) -> Result<(), String> {
        if !check.looks_at_fields() {
            return Ok(());
        }
        easy.headers(|headers| {
            let fields = headers.of(Origin::Header as u32 | Origin::Trailer as u32, None);
            let decodes = transfer.request.options.is_on(ToolOption::Compressed)
                && !transfer.request.options.is_on(ToolOption::Raw);
            let coded = |name: &[u8]| name.eq_ignore_ascii_case(b"Content-Encoding");
            let decoded = decodes && fields.iter().any(|(_, field)| coded(field.name));
            for name in ["Content-Digest", "Repr-Digest"] {
                let mut values =
                    fields.iter().filter(|(_, field)| field.name.eq_ignore_ascii_case(name.as_bytes()));
                let values: Vec<&[u8]> = values.by_ref().map(|(_, field)| field.value).collect();
                if values.is_empty() || part && name == "Repr-Digest" {
                    continue;
                }
                if decoded {
                    self.env.warn(&format!("{name} is not checked: it describes the body before decoding"));
                    continue;
                }
                check.compare_field(name, &values.join(b",".as_slice()))?;
            }
            Ok(())
        })
    }

    /// A request that is a part of something is a row in the reports.
    pub fn report(&self, transfer: &Transfer, easy: &Easy, code: i32) {
        if let Some(reports) = &self.reports {
            reports.borrow_mut().add(&Completion { transfer, easy, code });
        }
        if let Some(format) = self.env.globals.why {
            why::print(&self.env, easy, format);
        }
        // With --why they are among the reasons.
        if let Some(format) = self.env.globals.explain_cert.filter(|_| self.env.globals.why.is_none()) {
            why::print_certificates(&self.env, easy, format);
        }
        self.count_moved(easy);
    }

    /// Counts a transfer that was skipped because its file exists.
    pub fn count_skipped(&self) {
        if let Some(summary) = &self.summary {
            summary.borrow_mut().skipped();
        }
    }

    /// Counts the bytes moved by an attempt.
    fn count_moved(&self, easy: &Easy) {
        if let Some(summary) = &self.summary {
            let counts = easy.info(|info| (info.downloaded(), info.uploaded(), info.connects()));
            summary.borrow_mut().moved(counts.0, counts.1, counts.2);
        }
    }

    /// Counts a transfer that has ended, of which so many bytes have come if more than one request has
    /// fetched them.
    pub fn count_ended(&self, transfer: &Transfer, easy: &Easy, code: i32, bytes: Option<i64>) {
        let Some(summary) = &self.summary else { return };
        let ended = Completion { transfer, easy, code };
        let number = |info: Info| ended.number(info).unwrap_or(0);
        let moved = || number(Info::SizeDownloadT).max(number(Info::SizeUploadT));
        summary.borrow_mut().ended(TransferSummary {
            url: shown(&without_login(&transfer.url)),
            code,
            status: number(Info::ResponseCode),
            time: transfer.created.elapsed(),
            bytes: bytes.unwrap_or_else(moved),
            retries: transfer.retries.get(),
        });
    }

    /// Closes files, sets their times and attributes, writes the report.
    pub fn end(&self, transfer: &Transfer, easy: &Easy, code: i32, skipped: bool) -> i32 {
        let mut code = code;
        if !skipped {
            code = self.close(transfer, easy, code);
            transfer.finish_upload(code);
        }
        if let Some(format) = transfer.request.options.text(ToolOption::WriteOut) {
            write_out(format, &Completion { transfer, easy, code }, &mut Output::new(&self.env));
        }
        if !skipped {
            self.report(transfer, easy, code);
            self.count_ended(transfer, easy, code, None);
        }
        // A transfer that was ended because of another one is to be started again.
        let saved = transfer.saved.take().filter(|_| !transfer.abort.get());
        saved.iter().for_each(|entry| entry.end(code));
        easy.close();
        transfer.easy.borrow_mut().take();
        if let Some(pattern) = &mut *self.pattern.borrow_mut() {
            pattern.has_ended(&transfer.request, easy);
        }
        code
    }

    fn close(&self, transfer: &Transfer, easy: &Easy, code: i32) -> i32 {
        let mut out = transfer.out.borrow_mut();
        let file = out.is_file();
        let name = out.name.clone().unwrap_or_default();
        if let Err(error) = out.close()
            && code == 0
        {
            out.report_full_disk(&error, &mut self.env.messages.borrow_mut());
            self.env.error_line(&format!("curl: ({WRITE_ERROR}) Failed writing body"));
            return WRITE_ERROR;
        }
        let request = &transfer.request;
        let mut messages = self.env.messages.borrow_mut();
        if code != 0 && file && (request.remove_on_error || transfer.condemned.get()) {
            remove(&name, &mut messages);
        }
        if code == 0 && file && request.remote_time {
            let time = easy.info(|info| info.file_time());
            if time != NO_TIME {
                set_time(&name, time, &mut messages);
            }
        }
        if code == 0 && file && request.xattr {
            self.attributes(transfer, easy, &name, &mut messages);
        }
        code
    }

    fn attributes(&self, transfer: &Transfer, easy: &Easy, name: &[u8], messages: &mut Messages) {
        let (media_type, referer) = easy.info(|info| (info.content_type(), info.referer()));
        let pairs = [
            ("user.creator", Some(b"curl".to_vec())),
            ("user.mime_type", media_type),
            ("user.xdg.referrer.url", referer),
            ("user.xdg.origin.url", Some(without_login(&transfer.url))),
        ];
        for (attribute, value) in pairs {
            let Some(value) = value else { continue };
            if let Err(error) = system::set_attribute(name, attribute, &value) {
                let why = os_text(&error);
                messages.warn(&format!("Error setting extended attributes on '{}': {why}", shown(name)));
                return;
            }
        }
    }

    fn write_program(&self) {
        if let (Some(program), Some(file)) = (&self.program, &self.env.globals.libcurl)
            && write_file(file, &program.borrow().text()).is_err()
        {
            // As curl does: no error.
            self.env.warn(&format!("Failed to open {} to write libcurl code", shown(file)));
        }
    }

    /// Returns whether all requested reports were written.
    fn write_reports(&self) -> bool {
        let Some(reports) = &self.reports else { return true };
        reports.borrow_mut().sort();
        let records = &reports.borrow().records;
        let write = |file: &[u8], text: &str, what: &str| {
            let written = write_file(file, text);
            if let Err(error) = &written {
                let (file, why) = (shown(file), os_text(error));
                self.env
                    .error_line(&format!("curl: ({WRITE_ERROR}) Failed to write {what} to {file}: {why}"));
            }
            written.is_ok()
        };
        let globals = &self.env.globals;
        let har = globals
            .har
            .as_ref()
            .is_none_or(|file| write(file, &archive::har(records, archive::secrets(), 0), "the archive"));
        let timeline = globals
            .timeline
            .as_ref()
            .is_none_or(|file| write(file, &archive::timeline(records, file), "the timeline"));
        har && timeline
    }

    fn write_summary(&self) {
        if let Some(summary) = &self.summary {
            self.env.messages.borrow_mut().lines(summary.borrow().text().as_bytes());
        }
    }
}

/// Writes a report. It may contain secrets, so only the user can access it.
fn write_file(file: &[u8], text: &str) -> io::Result<()> {
    match file {
        b"-" => system::stdout().write_all(text.as_bytes()),
        _ => archive::write_private(path(file), text.as_bytes()),
    }
}

impl Job {
    /// Prepares an attempt, which has the rest of the deadline.
    pub fn begin(&self) {
        self.transfer.started.set(Some(Instant::now()));
        if let Some(sections) = &*self.transfer.sections.borrow() {
            sections.restart(&self.easy);
        }
        let request = &self.transfer.request;
        let Some(deadline) = deadline(request) else { return };
        let left = deadline.saturating_sub(self.first_attempt.elapsed()).as_millis().max(1) as i64;
        let own = request.options.long(O::TimeoutMs).filter(|millis| *millis > 0).unwrap_or(i64::MAX);
        let set = self.easy.set(O::TimeoutMs, left.min(own));
        debug_assert!(set.is_ok(), "a deadline is in range");
    }

    pub fn new(prepared: Prepared) -> Job {
        let retries = Retries::new(&prepared.transfer.request);
        Job {
            transfer: prepared.transfer,
            easy: prepared.easy,
            retries,
            first_attempt: Instant::now(),
            number: 0,
        }
    }
}

const CERTIFICATE_HELP: &str = "More details here: https://curl.se/docs/sslcerts.html\n\n\
    The certificate of the server could not be verified, so there is no safe connection to it.\n\
    --cacert names another certificate authority to trust.";

/// Returns whether no further transfer is tried after this code.
pub fn is_fatal(code: i32) -> bool {
    matches!(code, FAILED_INIT | OUT_OF_MEMORY | BAD_ARGUMENT | UNKNOWN_OPTION)
}
