//! Runs the requests of a command line: one transfer after the other, or many at a time.

use crate::env::Env;
use crate::input_file::EntryParser;
use crate::mirror;
use crate::options::ToolOption;
use crate::parallel;
use crate::proxy_command;
use crate::queue::{Queue, Source};
use crate::raw::{Code, EasyOption as O, LockData, Share, prefer_system_tls};
use crate::request::Request;
use crate::run::Run;
use crate::saved_queue::SavedQueue;
use crate::serial;
use crate::ssl_sessions;
use crate::watch;
use std::rc::Rc;
use std::sync::Arc;

/// CURLE_WRITE_ERROR
const WRITE_ERROR: i32 = 23;

/// Runs all requests, and parses the entries of their input files; the exit code.
pub fn operate(env: Rc<Env>, requests: Vec<Request>, entries: EntryParser) -> i32 {
    if let Some(why) = &env.cache_error {
        env.error_line(&format!("curl: ({WRITE_ERROR}) {why}"));
        return WRITE_ERROR;
    }
    if let Some(flag) = requests.iter().find_map(proxy_command::conflict) {
        env.error(&format!("--proxy-command can't be combined with {flag}"));
        return Code::FailedInit.id();
    }
    if requests.iter().any(shares_etag_file) {
        env.error("The etag options only work on a single URL; use them in the lines below it");
        return Code::FailedInit.id();
    }
    let share = Share::default();
    // Shared only on request: cookies in the share are sent.
    let cookies =
        |request: &Request| !request.cookie_files.is_empty() || request.options.text(O::CookieJar).is_some();
    share.set_kind(LockData::Cookie, requests.iter().any(cookies));
    // Entries learnt by one transfer apply to concurrent and later ones, and no file loses another one's
    // entries.
    share.set_kind(LockData::Hsts, requests.iter().any(|request| request.options.text(O::Hsts).is_some()));
    if let Some(file) = &env.globals.ssl_sessions {
        // Only the system's library can export sessions. A user who has named another one gets an error.
        if std::env::var_os("CURL_SSL_BACKEND").is_none() {
            prefer_system_tls(true);
        }
        share.set_kind(LockData::SslSession, true);
        if let Err(code) = ssl_sessions::load(&env, &share, file) {
            env.error_line(&format!("curl: ({}) {}", code.id(), code.text()));
            return code.id();
        }
    }
    let run = Run::new(env.clone(), share);
    let names_urls = requests.iter().any(Request::names_urls);
    let mut queue = Queue::new(requests, entries);
    queue.set_wake(Arc::new(run.multi.waker()));
    if let Err(code) = queue.check_input_files(&env) {
        return run.finish(code);
    }
    let code = match &env.globals {
        globals if globals.mirror.is_on || globals.mirror.sync => mirror::run(&run, &mut queue),
        globals if globals.watch.is_some() => watch::run(&run, &mut queue),
        globals if globals.queue.is_some() => work_off(&run, queue, names_urls),
        _ => transfer(&run, &mut queue),
    };
    let code = run.finish(code);
    let saved = env.globals.ssl_sessions.as_ref().map(|file| ssl_sessions::save(&env, &run.share, file));
    match saved {
        Some(Err(wrong)) if code == 0 => wrong.id(),
        _ => code,
    }
}

/// Returns whether all entries of an input file would use one file of ETags.
fn shares_etag_file(request: &Request) -> bool {
    let options = [ToolOption::EtagSave, ToolOption::EtagCompare];
    !request.input_files.is_empty() && options.iter().any(|option| request.options.text(*option).is_some())
}

/// Runs the transfers of a source; the exit code.
fn transfer(run: &Run, source: &mut dyn Source) -> i32 {
    if run.env.globals.parallel { parallel::run(run, source) } else { serial::run(run, source) }
}

/// Adds the transfers of the command line to the queue of `--queue`, and runs those that are not done.
fn work_off(run: &Run, new: Queue, has_new: bool) -> i32 {
    let name = run.env.globals.queue.as_deref().unwrap_or_default();
    match SavedQueue::open(&run.env, name, new, has_new) {
        Ok(mut queue) => {
            let code = transfer(run, &mut queue);
            queue.finish(&run.env, code)
        }
        Err(code) => code,
    }
}
