//! The process-wide pool: off unless the user asks for it, by WARMWIRE_POOL=process in the environment or by a
//! call. Handles then leave idle connections to it when they go and ask it before they open new ones, so that a
//! program that makes a handle per transfer runs as fast as one that keeps its handle.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use net::{SharedPool, process};
use runtime::Clock;
use tables::{Code, EasyOption, MultiCode};

pub use net::Listed;

use crate::callbacks::Callbacks;
use crate::easy::Easy;
use crate::multi::Multi;

/// Whether the pool is used. Decided once, by the first handle or by a call before it.
static STATE: AtomicU8 = AtomicU8::new(UNDECIDED);
const UNDECIDED: u8 = 0;
const OFF: u8 = 1;
const ON: u8 = 2;

/// The pool, when it is to be used.
pub fn in_use() -> Option<Arc<SharedPool>> {
    let state = match STATE.load(Ordering::Relaxed) {
        UNDECIDED => {
            let on = !runtime::secure_execution()
                && std::env::var_os("WARMWIRE_POOL").is_some_and(|v| v == "process");
            let state = if on { ON } else { OFF };
            STATE.store(state, Ordering::Relaxed);
            state
        }
        state => state,
    };
    (state == ON).then(|| process().pool.clone())
}

/// Turns the pool on or off for handles made from now on. Turning it off closes what it holds.
pub fn enable(on: bool) {
    STATE.store(if on { ON } else { OFF }, Ordering::Relaxed);
    if !on {
        process().pool.close_all();
    }
}

/// What is pooled now.
pub fn list() -> Vec<Listed> {
    process().pool.list(Clock::system().now())
}

/// Closes what is pooled for one origin, politely; how many connections that were.
pub fn close_origin(host: &str, port: u16) -> usize {
    process().pool.close_where(|origin| origin.port == port && origin.host.eq_ignore_ascii_case(host))
}

/// Closes all pooled connections politely (curl_global_cleanup, or a network that has changed).
pub fn close_all() {
    if STATE.load(Ordering::Relaxed) == ON {
        process().pool.close_all();
    }
}

/// Opens so many new connections, all at once, as a transfer of the URL with the settings of `like` would: name look-up,
/// connect, proxy, TLS, login. They wait in the pool. How many succeeded, and the first failure.
pub fn open(like: Option<&Easy>, url: &[u8], count: usize, timeout: Duration) -> (usize, Code) {
    if in_use().is_none() {
        return (0, Code::FailedInit);
    }
    let multi = Multi::new(Clock::system(), true);
    let handles: Result<Vec<Easy>, Code> = (0..count).map(|_| copy_for(like, url, timeout)).collect();
    let outcome = match handles {
        Ok(handles) => drive(&multi, &handles),
        Err(code) => (0, code),
    };
    multi.close();
    outcome
}

fn copy_for(like: Option<&Easy>, url: &[u8], timeout: Duration) -> Result<Easy, Code> {
    let easy = match like {
        Some(like) => like.duplicate(Rc::new(Silent)),
        None => Easy::new(Rc::new(Silent)),
    };
    easy.state().ahead.set(true);
    easy.set_text(EasyOption::Url, Some(url))?;
    if !timeout.is_zero() {
        let ms = i64::try_from(timeout.as_millis()).unwrap_or(i64::MAX).min(i64::from(i32::MAX));
        easy.state().settings.borrow_mut().set_long(EasyOption::TimeoutMs, ms)?;
    }
    Ok(easy)
}

fn drive(multi: &Multi, handles: &[Easy]) -> (usize, Code) {
    let mut failure = Code::Ok;
    let mut opened = 0;
    if handles.iter().any(|easy| multi.add(easy) != MultiCode::Ok) {
        return (0, Code::FailedInit);
    }
    loop {
        let (code, running) = multi.perform();
        while let Some((message, _)) = multi.next_message() {
            match message.code {
                Code::Ok => opened += 1,
                code if failure == Code::Ok => failure = code,
                _ => {}
            }
        }
        if code != MultiCode::Ok
            || multi.wait(&mut [], Duration::from_secs(u64::from(running > 0)), false).is_err()
        {
            return (opened, Code::UnrecoverablePoll);
        }
        if running == 0 {
            return (opened, failure);
        }
    }
}

/// Nobody listens.
struct Silent;

impl Callbacks for Silent {}
