//! Sends a request again if a kept connection turned out to be dead: the server had closed it while it was
//! idle, and no part of a reply was received. The code that notices the failure marks the error ([`Retry`]).

use std::hint::cold_path;

use super::Handles;
use crate::error::{Result, Retry};
use crate::why::event::{Event, ReplayReason};

/// The next step after an attempt has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The failure is the transfer's.
    GiveUp,
    /// Another attempt. `fresh` requires a new connection.
    Again {
        /// No pooled connection may be taken.
        fresh: bool,
    },
}

/// Decides whether another attempt is made after `made` repeated ones of at most `most`. The last attempt
/// gets a new connection, because it must not meet another dead one.
pub fn after_attempt(retry: Retry, made: u32, most: u32) -> Step {
    match retry.is_allowed() && made < most {
        true => Step::Again { fresh: made + 1 == most },
        false => Step::GiveUp,
    }
}

/// A transfer whose request may be sent again.
pub trait Repeatable: AsRef<Handles> {
    /// Prepares the next attempt after one that failed for this reason.
    fn prepare_repetition(&mut self, _reason: Retry) {}
}

/// Makes an attempt, and up to `most` more while the request may be sent again. `attempt` gets whether a new
/// connection is required.
#[expect(clippy::manual_async_fn, reason = "the future of an async fn contains each parameter twice")]
pub fn with_retries<C: Repeatable, T>(
    t: &mut C,
    most: u32,
    mut attempt: impl AsyncFnMut(&mut C, bool) -> Result<T>,
) -> impl Future<Output = Result<T>> {
    async move {
        let (mut replays, mut fresh) = (0, false);
        loop {
            let error = match attempt(t, fresh).await {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };
            cold_path();
            let Step::Again { fresh: next } = after_attempt(error.retry(), replays, most) else {
                return Err(error);
            };
            (replays, fresh) = (replays + 1, next);
            t.prepare_repetition(error.retry());
            report_repetition(t.as_ref(), error.retry(), replays);
        }
    }
}

/// Starts the times of another attempt, and reports the attempt to logs and reasons.
fn report_repetition(handles: &Handles, reason: Retry, count: u32) {
    handles.easy.info.borrow_mut().begin_request(handles.now()); // with a new connect time-out
    handles.easy.explain(|| Event::Replayed {
        why: match reason {
            Retry::Http1 => ReplayReason::Http11Required,
            _ => ReplayReason::ConnectionDied,
        },
        count,
    });
    handles.easy.note(|| match reason {
        Retry::Http1 => "Downgrades to HTTP/1.1".to_owned(),
        _ => format!("Connection died, retrying a fresh connect (retry count: {count})"),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts() {
        use Retry::{Forbidden, Http1, NewConnection, Unknown};
        let again = |fresh| Step::Again { fresh };
        #[rustfmt::skip]
        let rows = [
            // RFC 9110 §9.2.2: an automatic retry needs a reason to believe that the request was not
            // processed.
            ("an error that says nothing", Unknown, 0, 5, Step::GiveUp),
            // RFC 9113 §8.7: REFUSED_STREAM guarantees that nothing was processed.
            ("the first of five", NewConnection, 0, 5, again(false)),
            ("the fourth of five", NewConnection, 3, 5, again(false)),
            // RFC 9112 §9.3.1: a client should not retry a failed automatic retry for ever.
            ("the last one takes a new connection", NewConnection, 4, 5, again(true)),
            ("five are enough", NewConnection, 5, 5, Step::GiveUp),
            ("the only one takes a new connection", NewConnection, 0, 1, again(true)),
            ("one is enough", NewConnection, 1, 1, Step::GiveUp),
            ("none is allowed", NewConnection, 0, 0, Step::GiveUp),
            // RFC 9113 §8.1.1, HTTP_1_1_REQUIRED.
            ("in HTTP/1.1", Http1, 0, 5, again(false)),
            ("in HTTP/1.1, too often", Http1, 5, 5, Step::GiveUp),
            // RFC 9113 §6.8: streams up to the last one of a GOAWAY may have been processed.
            ("a request that the server has begun on", Forbidden, 0, 5, Step::GiveUp),
        ];
        for (name, retry, made, most, wanted) in rows {
            assert_eq!(after_attempt(retry, made, most), wanted, "{name}");
        }
    }
}
