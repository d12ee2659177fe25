//! Opens connections before they are needed (`warmwire_open`): each by a transfer that ends where its request
//! would start, and leaves its connection in the process-wide pool.

use std::rc::Rc;
use std::time::Duration;

use runtime::Clock;
use tables::{Code, EasyOption, MultiCode};

use super::{Pool, kind};
use crate::callbacks::Callbacks;
use crate::easy::Easy;
use crate::multi::Multi;

/// Opens so many new connections, all at once, as a transfer of the URL with the settings of `like` would:
/// name look-up, connect, proxy, TLS, login. They wait in the pool. How many succeeded, and the first
/// failure.
pub fn open(like: Option<&Easy>, url: &[u8], count: usize, timeout: Duration) -> (usize, Code) {
    if kind() == Pool::Off {
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

/// Callbacks that ignore everything.
struct Silent;

impl Callbacks for Silent {}
