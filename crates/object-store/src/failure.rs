//! The kind of a failure, by which object_store decides whether to retry.

use warmwire::{Code, Error, ErrorKind, RequestPhase};

/// The kinds of failure that each version of object_store has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The request was not sent. Retried with any method.
    Connect,
    /// The time was up after the request was sent. Retried if the request is idempotent.
    Timeout,
    /// The connection broke after the request was sent. Retried if the request is idempotent.
    Interrupted,
    /// The response is not understood. Not retried.
    Decode,
    /// The next try would end alike. Not retried.
    Unknown,
}

impl Failure {
    pub(crate) fn of(error: &Error) -> Failure {
        classify(error.kind(), error.code(), error.reached())
    }
}

fn classify(kind: ErrorKind, code: Code, reached: RequestPhase) -> Failure {
    let was_sent = reached >= RequestPhase::Sent;
    match kind {
        ErrorKind::Resolve | ErrorKind::Connect | ErrorKind::Proxy => Failure::Connect,
        // The peer or the network ended the handshake. Other failures of TLS are verdicts on certificates and
        // files.
        ErrorKind::Tls => match code {
            Code::SslConnectError | Code::QuicConnectError => Failure::Connect,
            _ => Failure::Unknown,
        },
        ErrorKind::Timeout if was_sent => Failure::Timeout,
        ErrorKind::Transport | ErrorKind::Incomplete if was_sent => Failure::Interrupted,
        ErrorKind::Timeout | ErrorKind::Transport | ErrorKind::Incomplete => Failure::Connect,
        ErrorKind::Protocol => match code {
            // A stream or a session that the peer has ended.
            Code::Http2 | Code::Http2Stream | Code::Http3 => Failure::Interrupted,
            _ => Failure::Decode,
        },
        ErrorKind::Decode => Failure::Decode,
        _ => Failure::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_retried_as_far_as_it_may_have_been_executed() {
        use RequestPhase::{Answered, Connected, Nothing, Resolved, Secured, Sent};
        let rows = [
            (Code::CouldntResolveHost, Nothing, Failure::Connect),
            (Code::CouldntConnect, Resolved, Failure::Connect),
            (Code::SslConnectError, Connected, Failure::Connect),
            (Code::PeerFailedVerification, Connected, Failure::Unknown),
            (Code::SslPinnedpubkeynotmatch, Connected, Failure::Unknown),
            (Code::SslCacertBadfile, Nothing, Failure::Unknown),
            (Code::Proxy, Connected, Failure::Connect),
            (Code::OperationTimedout, Nothing, Failure::Connect),
            (Code::OperationTimedout, Secured, Failure::Connect),
            (Code::OperationTimedout, Sent, Failure::Timeout),
            (Code::OperationTimedout, Answered, Failure::Timeout),
            (Code::SendError, Secured, Failure::Connect),
            (Code::SendError, Sent, Failure::Interrupted),
            (Code::GotNothing, Sent, Failure::Interrupted),
            (Code::RecvError, Answered, Failure::Interrupted),
            (Code::PartialFile, Answered, Failure::Interrupted),
            (Code::Http2Stream, Sent, Failure::Interrupted),
            (Code::WeirdServerReply, Answered, Failure::Decode),
            (Code::BadContentEncoding, Answered, Failure::Decode),
            (Code::UrlMalformat, Nothing, Failure::Unknown),
            (Code::UnsupportedProtocol, Nothing, Failure::Unknown),
            (Code::TooManyRedirects, Answered, Failure::Unknown),
            (Code::FailedInit, Nothing, Failure::Unknown),
            (Code::OutOfMemory, Answered, Failure::Unknown),
        ];
        for (code, reached, wanted) in rows {
            assert_eq!(classify(code.into(), code, reached), wanted, "{code:?} after {reached:?}");
        }
    }
}
