//! Decides whether a transfer is retried, and after how long.
//!
//! Transient failures are: time-outs, names that cannot be resolved at the moment, some HTTP codes, FTP's
//! 4xx, and what `--retry-connrefused` and `--retry-all-errors` add. See curl(1) under `--retry`.

use crate::request::{Fail, Request};
use std::time::Duration;

/// The first pause, doubled each time, and the longest.
const FIRST_PAUSE_MS: i64 = 1000;
const LONGEST_PAUSE_MS: i64 = 600_000;

/// Numbers of CURLcode that matter here.
const OK: i32 = 0;
const NO_PROXY_NAME: i32 = 5;
const NO_HOST_NAME: i32 = 6;
const NO_CONNECTION: i32 = 7;
const ACCEPT_TIMEOUT: i32 = 12;
const HTTP_ERROR: i32 = 22;
const TIMED_OUT: i32 = 28;
const CONNECTION_REFUSED: i64 = 111;
/// How a connection that is lost shows: CURLE_COULDNT_CONNECT, HTTP2, PARTIAL_FILE, SSL_CONNECT_ERROR,
/// GOT_NOTHING, SEND_ERROR, RECV_ERROR, SSH, HTTP2_STREAM, HTTP3 and QUIC_CONNECT_ERROR.
const CUTS: [i32; 11] = [NO_CONNECTION, 16, 18, 35, 52, 55, 56, 79, 92, 95, 96];

/// Facts about the attempt that has just ended.
#[derive(Clone, Copy, Debug, Default)]
pub struct Attempt<'a> {
    pub code: i32,
    pub response: i64,
    pub scheme: &'a str,
    pub os_errno: i64,
    pub retry_after_s: i64,
    /// Whether the received data is wrong: this is not an interruption.
    pub condemned: bool,
    /// The file is another one than at the attempt before.
    pub changed: bool,
    /// The server can't answer a request of an upload yet.
    pub later: bool,
    /// The server refuses to continue its part of an upload.
    pub lost_part: bool,
    /// Since the first attempt.
    pub elapsed: Duration,
}

/// The state of the retries of one transfer.
#[derive(Clone, Debug)]
pub struct Retries {
    left: i64,
    pause_ms: i64,
    fixed_pause: bool,
    max: Option<Duration>,
    all_errors: bool,
    connection_refused: bool,
    http_errors_fail: bool,
    resumes: bool,
    deadline: Option<Duration>,
    pub done: i64,
}

/// The action after an attempt.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    Over,
    /// No retry, because the server asked for too long a pause.
    TooLong,
    Again {
        pause: Duration,
        /// As said in the warning.
        why: &'static str,
        left: i64,
    },
}

impl Retries {
    pub fn new(request: &Request) -> Retries {
        let given = request.retry_delay_ms;
        Retries {
            left: request.retries,
            pause_ms: if given > 0 { given } else { FIRST_PAUSE_MS },
            fixed_pause: given > 0,
            max: (request.retry_max_ms > 0).then(|| Duration::from_millis(request.retry_max_ms as u64)),
            all_errors: request.retry_all_errors,
            connection_refused: request.retry_connrefused,
            http_errors_fail: request.fail != Fail::Never
                || request.fail_on.is_some()
                || request.retry_resume,
            resumes: request.retry_resume,
            deadline: deadline(request),
            done: 0,
        }
    }

    pub fn after(&mut self, attempt: Attempt) -> Verdict {
        if self.left == 0 || self.max.is_some_and(|max| attempt.elapsed >= max) {
            return Verdict::Over;
        }
        let Some((why, obeys_server)) = self.reason(attempt) else { return Verdict::Over };
        let mut pause_ms = self.pause_ms;
        if obeys_server && attempt.retry_after_s > 0 {
            let asked = Duration::from_secs(attempt.retry_after_s as u64);
            pause_ms = pause_ms.max(attempt.retry_after_s.saturating_mul(1000));
            if self.max.is_some_and(|max| attempt.elapsed.saturating_add(asked) > max) {
                return Verdict::TooLong;
            }
        }
        let pause = Duration::from_millis(pause_ms as u64);
        if self.deadline.is_some_and(|deadline| attempt.elapsed.saturating_add(pause) >= deadline) {
            return Verdict::Over;
        }
        let left = self.left;
        self.left -= 1;
        self.done += 1;
        if !self.fixed_pause {
            self.pause_ms = (self.pause_ms * 2).min(LONGEST_PAUSE_MS);
        }
        Verdict::Again { pause, why, left }
    }

    /// Why to try again, and whether the answer may say when.
    fn reason(&self, attempt: Attempt) -> Option<(&'static str, bool)> {
        let Attempt { code, response, scheme, os_errno, .. } = attempt;
        let http = matches!(scheme, "http" | "https");
        if matches!(code, TIMED_OUT | NO_HOST_NAME | NO_PROXY_NAME | ACCEPT_TIMEOUT) {
            return Some((": timeout", false));
        }
        if self.connection_refused && code == NO_CONNECTION && os_errno == CONNECTION_REFUSED {
            return Some((": connection refused", false));
        }
        let answered = code == OK || self.http_errors_fail && code == HTTP_ERROR;
        if answered && http && matches!(response, 408 | 429 | 500 | 502 | 503 | 504 | 522 | 524) {
            return Some((": HTTP error", true));
        }
        if code != OK && matches!(scheme, "ftp" | "ftps") && response / 100 == 4 {
            return Some((": FTP error", false));
        }
        if self.resumes && attempt.changed {
            return Some((": the file has changed", false));
        }
        if attempt.later {
            return Some((": HTTP error", true));
        }
        if self.resumes && attempt.lost_part {
            return Some((": the upload can't be continued", false));
        }
        if self.resumes && CUTS.contains(&code) && !attempt.condemned {
            return Some((": the transfer was cut", false));
        }
        (code != OK && self.all_errors).then_some(("(retrying all errors)", false))
    }
}

/// `--deadline`.
pub fn deadline(request: &Request) -> Option<Duration> {
    (request.deadline_ms > 0).then(|| Duration::from_millis(request.deadline_ms as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn retries(edit: fn(&mut Request)) -> Retries {
        let mut request = Request { retries: 3, ..Request::new() };
        edit(&mut request);
        Retries::new(&request)
    }

    fn http(response: i64) -> Attempt<'static> {
        Attempt { response, scheme: "http", ..Attempt::default() }
    }

    fn again(verdict: Verdict) -> Option<(u128, &'static str, i64)> {
        match verdict {
            Verdict::Again { pause, why, left } => Some((pause.as_millis(), why, left)),
            _ => None,
        }
    }

    #[test]
    fn pauses_double() {
        let mut retries = retries(|_| ());
        assert_eq!(again(retries.after(http(503))), Some((1000, ": HTTP error", 3)));
        assert_eq!(again(retries.after(http(503))), Some((2000, ": HTTP error", 2)));
        assert_eq!(again(retries.after(http(503))), Some((4000, ": HTTP error", 1)));
        assert_eq!(retries.after(http(503)), Verdict::Over);
        assert_eq!(retries.done, 3);
    }

    #[test]
    fn transient_failures_are_retried() {
        let code = |code, scheme, response, os_errno| Attempt {
            code,
            scheme,
            response,
            os_errno,
            ..Attempt::default()
        };
        assert!(again(retries(|_| ()).after(code(28, "http", 0, 0))).is_some());
        assert!(again(retries(|_| ()).after(http(404))).is_none());
        assert!(again(retries(|_| ()).after(code(7, "http", 0, 111))).is_none());
        assert!(again(retries(|r| r.retry_connrefused = true).after(code(7, "http", 0, 111))).is_some());
        assert!(again(retries(|_| ()).after(code(67, "ftp", 421, 0))).is_some());
        assert!(again(retries(|_| ()).after(code(56, "http", 0, 0))).is_none());
        assert!(again(retries(|r| r.retry_all_errors = true).after(code(56, "http", 0, 0))).is_some());
        assert!(again(retries(|_| ()).after(code(22, "http", 503, 0))).is_none());
        assert!(again(retries(|r| r.fail = Fail::WithoutBody).after(code(22, "http", 503, 0))).is_some());
    }

    #[test]
    fn cuts_are_passing_when_the_rest_can_be_asked_for() {
        let resumes = || retries(|r| r.retry_resume = true);
        let cut = |code| Attempt { code, scheme: "http", response: 200, ..Attempt::default() };
        for code in CUTS {
            assert!(again(resumes().after(cut(code))).is_some(), "{code}");
        }
        assert!(again(resumes().after(cut(23))).is_none());
        assert!(again(resumes().after(Attempt { condemned: true, ..cut(56) })).is_none());
        assert!(again(resumes().after(Attempt { changed: true, ..cut(33) })).is_some());
        assert!(again(resumes().after(cut(31))).is_none());
        assert!(again(resumes().after(Attempt { lost_part: true, ..cut(31) })).is_some());
        assert!(again(resumes().after(Attempt { response: 503, ..cut(22) })).is_some());
    }

    #[test]
    fn nothing_begins_after_the_deadline() {
        let mut retries = retries(|r| r.deadline_ms = 2500);
        assert_eq!(again(retries.after(http(503))), Some((1000, ": HTTP error", 3)));
        let late = Attempt { elapsed: Duration::from_millis(600), ..http(503) };
        assert_eq!(retries.after(late), Verdict::Over);
    }

    #[test]
    fn the_server_may_ask_for_a_longer_pause() {
        let asked = Attempt { retry_after_s: 9, ..http(429) };
        assert_eq!(again(retries(|_| ()).after(asked)), Some((9000, ": HTTP error", 3)));
        assert_eq!(retries(|r| r.retry_max_ms = 5000).after(asked), Verdict::TooLong);
        let late = Attempt { elapsed: Duration::from_secs(5), ..http(503) };
        assert_eq!(retries(|r| r.retry_max_ms = 5000).after(late), Verdict::Over);
        assert_eq!(again(retries(|r| r.retry_delay_ms = 50).after(http(503))), Some((50, ": HTTP error", 3)));
    }
}
