//! The state of a list of proxies during a transfer, and the decisions about it.

use std::time::{Duration, Instant};

use tables::{Code, ProxyCode};
use wire::proxy_list::ProxyEntry;

use super::dead::{Candidate, with_dead};
use crate::error::Error;

/// Longest wait for a proxy while others are left.
const LONGEST_ATTEMPT: Duration = Duration::from_secs(10);

/// The proxies of a transfer's current URL, in the order in which they are tried.
pub struct ProxySelection {
    /// The option or variable that has the list.
    pub by: String,
    candidates: Vec<Candidate>,
    at: usize,
    /// A new connection was opened by the current candidate: a later failure is none of choosing a proxy.
    opened: bool,
}

impl ProxySelection {
    /// Creates the selection among the entries of a list, which is not empty.
    pub(super) fn new(by: String, entries: Vec<ProxyEntry>, now: Instant) -> ProxySelection {
        let in_order = |entries: Vec<ProxyEntry>| {
            entries.into_iter().map(|entry| Candidate { entry, rest: None }).collect()
        };
        let mut entries = Some(entries);
        let sorted = with_dead(|dead| entries.take().map(|entries| dead.sort(entries, now))).flatten();
        let candidates = sorted.unwrap_or_else(|| in_order(entries.take().unwrap_or_default()));
        ProxySelection { by, candidates, at: 0, opened: false }
    }

    /// Returns the entry that is used now.
    pub fn current(&self) -> &ProxyEntry {
        &self.candidates[self.at].entry
    }

    /// Returns whether the host is reached without a proxy now.
    pub fn is_direct(&self) -> bool {
        *self.current() == ProxyEntry::Direct
    }

    /// Returns the entries that count as dead, and for how long, if they come after the current one.
    pub fn left_out(&self) -> impl Iterator<Item = (String, Duration)> {
        let later = self.candidates.iter().skip(self.at + 1);
        later.filter_map(|candidate| Some((candidate.entry.name(), candidate.rest?)))
    }

    /// Returns how many entries are left, the current one included.
    pub(super) fn left(&self) -> usize {
        self.candidates.len() - self.at
    }

    /// Notes that a connection was opened by way of the current entry, which thereby is the right one.
    pub(super) fn note_opened(&mut self) {
        self.opened = true;
    }

    /// Goes on to the next entry. Returns whether there is one, and no connection was opened before.
    pub(super) fn go_on(&mut self) -> bool {
        let may = !self.opened && self.left() > 1;
        self.at += usize::from(may);
        may
    }
}

/// How far a connection got that is opened through a proxy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::transfer) enum ProxyStage {
    /// The proxy is connected to; TLS with it is part of that.
    #[default]
    Connecting,
    /// The proxy is asked for a tunnel.
    Asking,
    /// The connection leads to the origin.
    Passed,
}

/// Returns whether the failure to open a connection by way of an entry shows that the entry leads nowhere. A
/// proxy that refuses does not: it has answered, and another one must not be a way around its refusal.
pub(super) fn leads_nowhere(entry: &ProxyEntry, stage: ProxyStage, error: &Error) -> bool {
    let is_own = matches!(
        error.code(),
        Code::AbortedByCallback | Code::RemoteAccessDenied | Code::OutOfMemory | Code::NotBuiltIn
    );
    match stage {
        _ if is_own => false,
        ProxyStage::Connecting if *entry == ProxyEntry::Direct => {
            let code = error.code();
            matches!(code, Code::CouldntConnect | Code::CouldntResolveHost | Code::OperationTimedout)
        }
        ProxyStage::Connecting => true,
        ProxyStage::Asking => match error.code() {
            Code::SendError | Code::RecvError | Code::GotNothing | Code::OperationTimedout => true,
            Code::Proxy => BROKEN.iter().any(|code| i64::from(code.id()) == error.proxy_code()),
            _ => false,
        },
        ProxyStage::Passed => false,
    }
}

/// The codes of a SOCKS proxy whose connection broke before its answer.
const BROKEN: [ProxyCode; 3] = [ProxyCode::Closed, ProxyCode::SendConnect, ProxyCode::RecvConnect];

/// Returns when an attempt ends: the time that is left is divided among the entries that are left.
pub(super) fn attempt_deadline(now: Instant, deadline: Instant, left: usize) -> Instant {
    let remaining = deadline.saturating_duration_since(now);
    match u32::try_from(left) {
        Ok(left) if left > 1 => now + (remaining / left).min(LONGEST_ATTEMPT),
        _ => deadline,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_leads_nowhere_or_has_answered() {
        use ProxyStage::{Asking, Connecting, Passed};
        let proxy = ProxyEntry::Proxy(b"http://a:1".to_vec());
        let direct = ProxyEntry::Direct;
        let failed = |code| Error::new(code, "");
        let socks = |code| Error::new(Code::Proxy, "").with_proxy_code(code);
        #[rustfmt::skip]
        let rows = [
            ("nobody listens", &proxy, Connecting, failed(Code::CouldntConnect), true),
            ("its name is unknown", &proxy, Connecting, failed(Code::CouldntResolveProxy), true),
            ("TLS with it fails", &proxy, Connecting, failed(Code::PeerFailedVerification), true),
            ("the application refuses", &proxy, Connecting, failed(Code::AbortedByCallback), false),
            ("a policy refuses", &proxy, Connecting, failed(Code::RemoteAccessDenied), false),
            ("it closes", &proxy, Asking, failed(Code::RecvError), true),
            ("it does not answer", &proxy, Asking, failed(Code::OperationTimedout), true),
            ("RFC 9110 §9.3.6: no 2xx", &proxy, Asking, failed(Code::CouldntConnect), false),
            ("RFC 1928 §6: it closes", &proxy, Asking, socks(ProxyCode::Closed), true),
            ("RFC 1928 §6: REP is not 0", &proxy, Asking, socks(ProxyCode::ReplyHostUnreachable), false),
            ("the origin does not answer", &proxy, Passed, failed(Code::OperationTimedout), false),
            ("the host is unreachable", &direct, Connecting, failed(Code::CouldntConnect), true),
            ("the host is unknown", &direct, Connecting, failed(Code::CouldntResolveHost), true),
            ("TLS with the host fails", &direct, Connecting, failed(Code::PeerFailedVerification), false),
        ];
        for (name, entry, stage, error, wanted) in rows {
            assert_eq!(leads_nowhere(entry, stage, &error), wanted, "{name}");
        }
    }

    #[test]
    fn attempts_share_the_time() {
        let now = Instant::now();
        let rows = [(300, 1, 300), (300, 2, 10), (12, 3, 4), (12, 1, 12), (0, 2, 0)];
        for (remaining, left, wanted) in rows {
            let until = attempt_deadline(now, now + Duration::from_secs(remaining), left);
            assert_eq!(until.duration_since(now).as_secs(), wanted, "{remaining} s for {left}");
        }
    }
}
