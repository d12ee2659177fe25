//! Runs the transfers: one after the other, or many at a time; tries again, writes reports, decides the exit code.

use crate::env::Env;
use crate::libcurl::Program;
use crate::message::shown;
use crate::outcome::{Ended, Output, message};
use crate::parallel;
use crate::prepare::{Prepared, Stop, prepare};
use crate::queue::Queue;
use crate::raw::{Code, Easy, ExtraFd, Limits, LockData, Multi, Share};
use crate::report::{self, Reports};
use crate::request::{Fail, Request};
use crate::retry::{Attempt, Retries, Verdict};
use crate::sink::{path, remove, set_time};
use crate::transfer::{Transfer, flush_stdout};
use crate::writeout::write_out;
use std::cell::RefCell;
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// CURLE numbers.
const FAILED_INIT: i32 = 2;
const WRITE_ERROR: i32 = 23;
const HTTP_ERROR: i32 = 22;
const OUT_OF_MEMORY: i32 = 27;
const BAD_ARGUMENT: i32 = 43;
const UNKNOWN_OPTION: i32 = 48;
const BAD_CERTIFICATE: i32 = 60;

/// POLLIN, with what poll(2) reports unasked.
const READABLE: i16 = 1;

/// Everything that a run needs besides its transfers.
pub struct Run {
    pub env: Rc<Env>,
    pub multi: Multi,
    pub share: Share,
    pub program: Option<RefCell<Program>>,
    reports: Option<RefCell<Reports>>,
}

/// A transfer under way.
pub struct Job {
    pub transfer: Rc<Transfer>,
    pub easy: Easy,
    pub retries: Retries,
    pub first_attempt: Instant,
}

/// What comes of an attempt.
pub enum After {
    Again(Duration),
    Over(i32),
}

/// Runs all requests; the exit code.
pub fn operate(env: Rc<Env>, requests: Vec<Request>) -> i32 {
    let program = env.globals.libcurl.as_ref().map(|_| RefCell::new(Program::default()));
    let share = Share::default();
    // Shared only if asked for: what is in the share is sent.
    let cookies =
        |request: &Request| !request.cookie_files.is_empty() || request.options.text("COOKIEJAR").is_some();
    share.set_kind(LockData::Cookie, requests.iter().any(cookies));
    // What one transfer learns holds for those beside and behind it, and no file loses what another knew.
    share.set_kind(LockData::Hsts, requests.iter().any(|request| request.options.text("HSTS").is_some()));
    let reports = env.globals.reports().then(|| RefCell::new(Reports::new()));
    let run = Run { env: env.clone(), multi: Multi::default(), share, program, reports };
    run.multi.set_limits(Limits { max_host: env.globals.parallel_max_host, ..Limits::default() });
    let mut queue = Queue::new(requests);
    let code = if env.globals.parallel { parallel::run(&run, &mut queue) } else { run.serial(&mut queue) };
    run.write_program();
    run.write_reports();
    let _ = flush_stdout();
    run.multi.close();
    code
}

impl Run {
    fn serial(&self, queue: &mut Queue) -> i32 {
        let mut last = 0;
        let mut began: Option<Instant> = None;
        while let Some(item) = queue.next_item(&self.env) {
            let prepared = match item.map_err(Stop::Failed).and_then(|item| self.prepare(item)) {
                Ok(prepared) => prepared,
                Err(Stop::LeftOut) => continue,
                Err(Stop::Failed(code)) => return code,
            };
            if let Some(began) = began {
                self.keep_rate(began);
            }
            began = Some(Instant::now());
            last = self.one(prepared);
            if is_fatal(last) || last != 0 && self.env.globals.fail_early {
                return last;
            }
        }
        if began.is_none() {
            self.env.error("no transfer performed");
            return 26;
        }
        last
    }

    pub fn prepare(&self, item: crate::queue::Item) -> Result<Prepared, Stop> {
        let prepared = prepare(&self.env, &self.share, item, self.env.globals.parallel)?;
        if let Some(program) = &self.program {
            program.borrow_mut().add(&prepared.settings);
        }
        Ok(prepared)
    }

    /// One transfer to its end, with all its attempts.
    fn one(&self, prepared: Prepared) -> i32 {
        if prepared.skip {
            return self.end(&prepared.transfer, &prepared.easy, 0, true);
        }
        if let Some(program) = &self.program {
            program.borrow_mut().perform();
        }
        let mut job = Job::new(prepared);
        loop {
            job.transfer.started.set(Some(Instant::now()));
            let code = self.drive(&job);
            match self.after(&mut job, code) {
                After::Again(pause) => std::thread::sleep(pause),
                After::Over(code) => return code,
            }
        }
    }

    fn drive(&self, job: &Job) -> i32 {
        let easy = &job.easy;
        self.multi.add(easy);
        loop {
            self.multi.perform();
            if let Some((message, _)) = self.multi.next_message() {
                self.multi.remove(easy);
                return message.code.id();
            }
            if self.wait(std::slice::from_ref(job), Duration::from_secs(1)).is_err() {
                self.multi.remove(easy);
                return Code::UnrecoverablePoll.id();
            }
        }
    }

    /// Waits for the network, and for standard input where an upload wants more of it.
    pub fn wait(&self, jobs: &[Job], pause: Duration) -> io::Result<()> {
        let hungry = || jobs.iter().filter(|job| job.transfer.wants_input.get());
        if hungry().next().is_none() {
            return self.multi.wait(&mut [], pause, true).map(drop);
        }
        let input = io::stdin();
        let mut extra = [ExtraFd { fd: Some(input.as_fd()), events: READABLE, revents: 0 }];
        self.multi.wait(&mut extra, pause, true)?;
        if extra[0].revents != 0 {
            for job in hungry() {
                job.transfer.wants_input.set(false);
                job.easy.pause(0);
            }
        }
        Ok(())
    }

    /// After an attempt: another one, or the end.
    pub fn after(&self, job: &mut Job, code: i32) -> After {
        let transfer = &job.transfer;
        transfer.finish_progress(code);
        let code = self.say_error(transfer, &job.easy, code);
        let code = self.finish_output(transfer, &job.easy, code);
        let verdict = {
            let info = job.easy.state().info.borrow();
            job.retries.after(Attempt {
                code,
                response: info.response_code,
                scheme: &info.scheme.to_ascii_lowercase(),
                os_errno: job.easy.state().os_errno.get(),
                retry_after_s: info.retry_after,
                elapsed: job.first_attempt.elapsed(),
            })
        };
        match verdict {
            Verdict::Again { pause, why, left } => match self.again(job, pause, why, left) {
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

    fn again(&self, job: &Job, pause: Duration, why: &str, left: i64) -> Result<(), i32> {
        let (seconds, millis) = (pause.as_secs(), pause.subsec_millis());
        let plural = if left == 1 { "retry" } else { "retries" };
        let shown = if millis == 0 { seconds.to_string() } else { format!("{seconds}.{millis:03}") };
        let unit = if seconds == 1 && millis == 0 { "second" } else { "seconds" };
        self.env.warn(&format!("Problem {why}. Will retry in {shown} {unit}. {left} {plural} left."));
        job.transfer.retries.set(job.retries.done);
        match job.transfer.again() {
            Ok(0) => Ok(()),
            Ok(thrown) => {
                self.env.note(&format!("Throwing away {thrown} bytes"));
                Ok(())
            }
            Err(_) => {
                self.env.error("Failed to truncate file");
                Err(WRITE_ERROR)
            }
        }
    }

    /// The line about a failure; an HTTP error may make one of a success.
    fn say_error(&self, transfer: &Transfer, easy: &Easy, code: i32) -> i32 {
        if code != 0 {
            if !transfer.told.get() {
                let text = message(easy, code);
                self.env.error_line(&format!("curl: ({code}) {text}"));
                if code == BAD_CERTIFICATE {
                    self.env.error_line(CERTIFICATE_HELP);
                }
            }
            return code;
        }
        let response = easy.state().info.borrow().response_code;
        if transfer.request.fail == Fail::WithBody && response >= 400 {
            self.env
                .error_line(&format!("curl: ({HTTP_ERROR}) The requested URL returned error: {response}"));
            return HTTP_ERROR;
        }
        0
    }

    /// What was gathered is written; a success without data makes an empty file.
    fn finish_output(&self, transfer: &Transfer, easy: &Easy, code: i32) -> i32 {
        let mut code = code;
        if code == 0 && !transfer.finish_headers() {
            code = WRITE_ERROR;
        }
        let unmet = {
            let info = easy.state().info.borrow();
            info.condition_unmet || info.response_code == 304
        };
        let mut out = transfer.out.borrow_mut();
        if code == 0 && !out.is_open() && !unmet && !out.open(&mut self.env.messages.borrow_mut()) {
            code = WRITE_ERROR;
        }
        if out.flush().is_err() && code == 0 {
            self.env.error("Failed writing body");
            code = WRITE_ERROR;
        }
        code
    }

    /// Closes files, sets their times and attributes, writes the report.
    pub fn end(&self, transfer: &Transfer, easy: &Easy, code: i32, skipped: bool) -> i32 {
        let mut code = code;
        if !skipped {
            code = self.close(transfer, easy, code);
        }
        if let Some(format) = transfer.request.options.text("write-out") {
            write_out(format, &Ended { transfer, easy, code }, &mut Output::new(&self.env));
        }
        if let Some(reports) = self.reports.as_ref().filter(|_| !skipped) {
            reports.borrow_mut().add(&Ended { transfer, easy, code });
        }
        easy.close();
        transfer.easy.borrow_mut().take();
        code
    }

    fn close(&self, transfer: &Transfer, easy: &Easy, code: i32) -> i32 {
        let mut out = transfer.out.borrow_mut();
        let file = out.is_file();
        let name = out.name.clone().unwrap_or_default();
        if out.close().is_err() && code == 0 {
            self.env.error_line(&format!("curl: ({WRITE_ERROR}) Failed writing body"));
            return WRITE_ERROR;
        }
        let request = &transfer.request;
        let mut messages = self.env.messages.borrow_mut();
        if code != 0 && file && request.remove_on_error {
            remove(&name, &mut messages);
        }
        if code == 0 && file && request.remote_time {
            let time = easy.state().info.borrow().file_time;
            set_time(&name, time, &mut messages);
        }
        if code == 0 && file && request.xattr {
            self.attributes(transfer, easy, &name, &mut messages);
        }
        code
    }

    fn attributes(
        &self,
        transfer: &Transfer,
        easy: &Easy,
        name: &[u8],
        messages: &mut crate::message::Messages,
    ) {
        let info = easy.state().info.borrow();
        let pairs = [
            ("user.creator", Some(b"curl".to_vec())),
            ("user.mime_type", info.content_type.as_deref().map(<[u8]>::to_vec)),
            ("user.xdg.referrer.url", info.referer.as_deref().map(<[u8]>::to_vec)),
            ("user.xdg.origin.url", Some(without_login(&transfer.url))),
        ];
        for (attribute, value) in pairs {
            let Some(value) = value else { continue };
            if let Err(error) = crate::outside::set_attribute(name, attribute, &value) {
                let why = crate::message::os_text(&error);
                messages.warn(&format!("Error setting extended attributes on '{}': {why}", shown(name)));
                return;
            }
        }
    }

    /// `--rate`: no transfer starts too soon after the one before.
    fn keep_rate(&self, began: Instant) {
        let least = Duration::from_millis(self.env.globals.rate_ms);
        let took = began.elapsed();
        if took < least {
            let (took_ms, waits_ms) = (took.as_millis(), (least - took).as_millis());
            self.env.note(&format!("Transfer took {took_ms} ms, waits {waits_ms}ms as set by --rate"));
            std::thread::sleep(least - took);
        }
    }

    fn write_program(&self) {
        if let (Some(program), Some(file)) = (&self.program, &self.env.globals.libcurl) {
            self.write_file(file, &program.borrow().text(), "libcurl code");
        }
    }

    fn write_reports(&self) {
        let Some(reports) = &self.reports else { return };
        let records = &reports.borrow().records;
        if let Some(file) = &self.env.globals.har {
            self.write_file(file, &report::har(records, env!("CARGO_PKG_VERSION")), "the archive");
        }
        if let Some(file) = &self.env.globals.timeline {
            self.write_file(file, &report::timeline(records, file), "the timeline");
        }
    }

    fn write_file(&self, file: &[u8], text: &str, what: &str) {
        let written = if file == b"-" {
            std::io::Write::write_all(&mut std::io::stdout(), text.as_bytes())
        } else {
            fs::write(path(file), text)
        };
        if written.is_err() {
            self.env.warn(&format!("Failed to open {} to write {what}", shown(file)));
        }
    }
}

impl Job {
    pub fn new(prepared: Prepared) -> Job {
        let retries = Retries::new(&prepared.transfer.request);
        Job { transfer: prepared.transfer, easy: prepared.easy, retries, first_attempt: Instant::now() }
    }
}

const CERTIFICATE_HELP: &str = "More details here: https://curl.se/docs/sslcerts.html\n\n\
    The certificate of the server could not be verified, so there is no safe connection to it.\n\
    --cacert names another certificate authority to trust.";

/// After these nothing more is tried.
pub fn is_fatal(code: i32) -> bool {
    matches!(code, FAILED_INIT | OUT_OF_MEMORY | BAD_ARGUMENT | UNKNOWN_OPTION)
}

/// A URL that may be stored: no user name and no password in it.
fn without_login(url: &[u8]) -> Vec<u8> {
    use crate::raw::{UrlPart, url_flag};
    let Ok(mut parsed) = crate::prepare::parse_url(url) else { return Vec::new() };
    let _ = parsed.set(UrlPart::User, None, 0);
    let _ = parsed.set(UrlPart::Password, None, 0);
    parsed.get(UrlPart::Url, url_flag::GUESS_SCHEME).unwrap_or_default()
}
