//! Connection: what is still read and sent after a reply's head, and whether another request may use the
//! connection.

/// A reply whose head has been received.
#[derive(Clone, Copy, Debug)]
pub struct Body {
    /// Whether nothing follows this reply: its body is that of the transfer.
    pub is_last: bool,
    /// The document does not fulfil CURLOPT_TIMECONDITION.
    pub is_unmet: bool,
    /// The connection persists behind it (RFC 9112 §9.3).
    pub keep_alive: bool,
    /// It is short enough that reading it is cheaper than a new connection.
    pub is_short: bool,
}

/// Returns whether the body is read. Reading an unwanted body keeps the connection in step with the server.
pub fn reads_body(f: &Body) -> bool {
    if f.is_last { !f.is_unmet } else { f.keep_alive && f.is_short }
}

/// The body of a request when its reply has been read.
#[derive(Clone, Copy, Debug)]
pub struct Unsent {
    /// The connection persists, as far as the reply is concerned.
    pub keep: bool,
    /// The reply ended with the connection (RFC 9112 §6.3).
    pub until_close: bool,
    /// Frames of a WebSocket followed the reply.
    pub websocket: bool,
    /// Whether everything has been sent, or sending was given up.
    pub ended: bool,
}

/// The treatment of the rest of a request's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// The server reads on, and gets all of it.
    Send,
    /// It is not sent.
    Stop,
    /// There is none, and the connection closes.
    None,
}

/// Decides what happens to the rest of a request's body after an early reply.
pub fn rest(f: &Unsent) -> Rest {
    match f.keep && !f.until_close && !f.websocket {
        true => Rest::Send,
        false if f.ended => Rest::None,
        false => Rest::Stop,
    }
}

/// Returns whether a failure to send fails the transfer although a reply was received. If the reply ended
/// with the connection, the failure may have truncated it.
pub fn send_failure_counts(until_close: bool, rest: Rest, status: u16) -> bool {
    until_close || rest == Rest::Send && status < 300
}

/// A connection whose exchange succeeded.
#[derive(Clone, Copy, Debug)]
pub struct FinishedExchange {
    /// The request was a stream of a session.
    pub stream: bool,
    /// The reply allows another request.
    pub keep: bool,
    /// Whether nothing unexpected was received after the reply.
    pub clean: bool,
    /// All of the request was sent.
    pub complete: bool,
    /// CURLOPT_FORBID_REUSE.
    pub forbidden: bool,
    /// NTLM or Negotiate has begun to authenticate it.
    pub bound: bool,
    /// Whether the same request follows.
    pub again: bool,
}

/// The next use of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextUse {
    /// The transfer keeps it: the next request continues a login on it.
    Hold,
    /// It returns to the pool.
    Release,
    /// It is closed.
    Close,
}

/// Decides what happens to the connection. The rest of a stream does not affect its session, which decides
/// for itself.
pub fn next_use(f: &FinishedExchange) -> NextUse {
    let stays = if f.stream { !f.forbidden } else { f.keep && f.clean && f.complete && !f.forbidden };
    match stays {
        false => NextUse::Close,
        true if f.bound && f.again => NextUse::Hold,
        true => NextUse::Release,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies() {
        let last = Body { is_last: true, is_unmet: false, keep_alive: true, is_short: true };
        let other = Body { is_last: false, ..last };
        let rows = [
            ("RFC 9112 §6: the transfer's body", last, true),
            (
                "RFC 9112 §6: of any length, to the end of the connection",
                Body { keep_alive: false, is_short: false, ..last },
                true,
            ),
            ("CURLOPT_TIMECONDITION(3): not newer", Body { is_unmet: true, ..last }, false),
            ("RFC 9112 §9.3: a redirect's short body is passed over", other, true),
            (
                "RFC 9112 §9.3: a long one costs more than a connection",
                Body { is_short: false, ..other },
                false,
            ),
            ("RFC 9112 §9.6: the connection closes anyway", Body { keep_alive: false, ..other }, false),
            ("RFC 9110 §13.1: a condition is about the last one", Body { is_unmet: true, ..other }, true),
        ];
        for (name, facts, wanted) in rows {
            assert_eq!(reads_body(&facts), wanted, "{name}");
        }
    }

    #[test]
    fn rests() {
        let early = Unsent { keep: true, until_close: false, websocket: false, ended: false };
        let closing = Unsent { keep: false, ..early };
        let rows = [
            ("RFC 9112 §9.3: the server reads on", early, Rest::Send),
            ("RFC 9112 §9.3: all was sent", Unsent { ended: true, ..early }, Rest::Send),
            ("RFC 9112 §9.6: Connection: close", closing, Rest::Stop),
            ("RFC 9112 §9.6: closed, and all was sent", Unsent { ended: true, ..closing }, Rest::None),
            (
                "RFC 9112 §6.3: a reply that ended with the connection",
                Unsent { until_close: true, ..early },
                Rest::Stop,
            ),
            ("RFC 6455 §7.1.1: a WebSocket has ended", Unsent { websocket: true, ..early }, Rest::Stop),
        ];
        for (name, facts, wanted) in rows {
            assert_eq!(rest(&facts), wanted, "{name}");
        }
    }

    #[test]
    fn send_failures() {
        let rows = [
            ("RFC 9112 §9.5: a refusal explains the failure", (false, Rest::Send, 413), false),
            ("RFC 9112 §9.5: so does a redirect", (false, Rest::Send, 300), false),
            ("RFC 9112 §9.5: a success does not", (false, Rest::Send, 200), true),
            ("RFC 9112 §9.6: a server that closes after its reply", (false, Rest::Stop, 200), false),
            ("RFC 9112 §6.3: the reply may be cut short", (true, Rest::Stop, 413), true),
            ("RFC 9112 §6.3: whatever was left to send", (true, Rest::None, 200), true),
        ];
        for (name, (until_close, rest, status), wanted) in rows {
            assert_eq!(send_failure_counts(until_close, rest, status), wanted, "{name}");
        }
    }

    #[test]
    fn uses() {
        let good = FinishedExchange {
            stream: false,
            keep: true,
            clean: true,
            complete: true,
            forbidden: false,
            bound: false,
            again: false,
        };
        let stream = FinishedExchange { stream: true, keep: false, clean: false, complete: false, ..good };
        let login = FinishedExchange { bound: true, again: true, ..good };
        let rows = [
            ("RFC 9112 §9.3: persistent", good, NextUse::Release),
            ("RFC 9112 §9.6: Connection: close", FinishedExchange { keep: false, ..good }, NextUse::Close),
            (
                "RFC 9112 §9.2: bytes behind the reply belong to no request",
                FinishedExchange { clean: false, ..good },
                NextUse::Close,
            ),
            (
                "RFC 9112 §9.5: the body was not sent to its end",
                FinishedExchange { complete: false, ..good },
                NextUse::Close,
            ),
            ("CURLOPT_FORBID_REUSE(3)", FinishedExchange { forbidden: true, ..good }, NextUse::Close),
            ("RFC 9113 §5.1: a stream that ended anyhow leaves the session", stream, NextUse::Release),
            (
                "CURLOPT_FORBID_REUSE(3): of a session",
                FinishedExchange { forbidden: true, ..stream },
                NextUse::Close,
            ),
            ("[MS-NTHT] 3.1.5.1: the next message goes on the same connection", login, NextUse::Hold),
            (
                "[MS-NTHT] 3.1.5.1: the login is complete",
                FinishedExchange { again: false, ..login },
                NextUse::Release,
            ),
            (
                "RFC 7616 §3.3: Digest needs no connection",
                FinishedExchange { bound: false, ..login },
                NextUse::Release,
            ),
            (
                "[MS-NTHT] 3.1.5.1: the connection closes in between",
                FinishedExchange { keep: false, ..login },
                NextUse::Close,
            ),
        ];
        for (name, facts, wanted) in rows {
            assert_eq!(next_use(&facts), wanted, "{name}");
        }
    }
}
