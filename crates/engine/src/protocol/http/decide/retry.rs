//! Retry: whether a failed request is sent again, and on which connection.

use tables::Code;

use crate::error::Retry;

/// A request that failed.
#[derive(Clone, Copy, Debug)]
pub struct Failure {
    /// The code of the failure.
    pub code: Code,
    /// The statement of the failure itself.
    pub retry: Retry,
    /// The connection has served another request before.
    pub reused: bool,
    /// A byte of the reply has arrived.
    pub received: bool,
    /// The request was sent before the handshake was complete (0-RTT).
    pub early_data: bool,
}

/// Decides whether the request is sent again. The caller still has to rewind its body, which may fail.
pub fn after_failure(f: &Failure) -> Retry {
    if f.retry.is_allowed() && !f.received {
        return f.retry;
    }
    // The server closed a pooled connection while it was idle.
    let died = matches!(f.code, Code::GotNothing | Code::RecvError | Code::SendError | Code::Http2);
    let stale = died && f.reused && !f.received && f.retry != Retry::Forbidden;
    // QUIC was tried with a session ticket, and the server does not answer there any more.
    let unreachable = f.early_data && matches!(f.code, Code::CouldntConnect | Code::QuicConnectError);
    match (stale || unreachable, f.retry) {
        (true, Retry::Http1) => Retry::Http1,
        (true, _) => Retry::NewConnection,
        // A stream that is refused after a part of the reply has arrived: the application would get that part
        // twice.
        (false, Retry::Forbidden) => Retry::Forbidden,
        (false, _) => Retry::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Retry::{Forbidden, Http1, NewConnection, Unknown};

    /// A pooled connection that ends before a byte of the reply.
    const DEAD: Failure =
        Failure { code: Code::GotNothing, retry: Unknown, reused: true, received: false, early_data: false };

    #[test]
    fn failures() {
        let rows = [
            ("RFC 9112 §9.3.1: a persistent connection may close at any time", DEAD, NewConnection),
            (
                "RFC 9112 §9.3.1: reset instead of closed",
                Failure { code: Code::RecvError, ..DEAD },
                NewConnection,
            ),
            (
                "RFC 9112 §9.6: closed while the request was on its way",
                Failure { code: Code::SendError, ..DEAD },
                NewConnection,
            ),
            (
                "RFC 9113 §6.8: the session ended without a word about the stream",
                Failure { code: Code::Http2, ..DEAD },
                NewConnection,
            ),
            (
                "RFC 9110 §9.2.2: a first request on a new connection may have been processed",
                Failure { reused: false, ..DEAD },
                Unknown,
            ),
            (
                "RFC 9112 §8: a reply that has begun is an incomplete message",
                Failure { code: Code::RecvError, received: true, ..DEAD },
                Unknown,
            ),
            (
                "RFC 9113 §8.1: a stream error is about the request, not about the connection",
                Failure { code: Code::Http2Stream, ..DEAD },
                Unknown,
            ),
            (
                "CURLOPT_TIMEOUT(3): a time-out is the transfer's",
                Failure { code: Code::OperationTimedout, ..DEAD },
                Unknown,
            ),
            (
                "CURLOPT_WRITEFUNCTION(3): the application has failed",
                Failure { code: Code::WriteError, ..DEAD },
                Unknown,
            ),
            (
                "RFC 9112 §4: a reply that cannot be parsed would be the same again",
                Failure { code: Code::WeirdServerReply, ..DEAD },
                Unknown,
            ),
            (
                "RFC 9113 §8.7: REFUSED_STREAM on a pooled connection",
                Failure { code: Code::SendError, retry: NewConnection, ..DEAD },
                NewConnection,
            ),
            (
                "RFC 9113 §8.7: REFUSED_STREAM on a new connection, too",
                Failure { code: Code::SendError, retry: NewConnection, reused: false, ..DEAD },
                NewConnection,
            ),
            (
                "RFC 9113 §8.7: REFUSED_STREAM after a part of the reply comes too late",
                Failure { code: Code::SendError, retry: NewConnection, received: true, ..DEAD },
                Unknown,
            ),
            (
                "RFC 9113 §8.1.1: HTTP_1_1_REQUIRED",
                Failure { code: Code::SendError, retry: Http1, reused: false, ..DEAD },
                Http1,
            ),
            (
                "RFC 9113 §8.1.1: HTTP_1_1_REQUIRED on a pooled connection keeps its sense",
                Failure { code: Code::SendError, retry: Http1, ..DEAD },
                Http1,
            ),
            (
                "RFC 9113 §8.1.1: HTTP_1_1_REQUIRED after a part of the reply",
                Failure { code: Code::SendError, retry: Http1, received: true, ..DEAD },
                Unknown,
            ),
            (
                "RFC 9114 §8.1: H3_VERSION_FALLBACK before the reply",
                Failure { code: Code::SendError, retry: Http1, reused: false, early_data: true, ..DEAD },
                Http1,
            ),
            (
                "RFC 9113 §6.8: the stream is below GOAWAY's last one and may have been processed",
                Failure { code: Code::Http2, retry: Forbidden, ..DEAD },
                Forbidden,
            ),
            (
                "RFC 9113 §6.8: the same with a connection that is then lost",
                Failure { code: Code::RecvError, retry: Forbidden, ..DEAD },
                Forbidden,
            ),
            (
                "RFC 9001 §4.6.2: early data is not answered, and QUIC cannot be reached",
                Failure { code: Code::QuicConnectError, reused: false, early_data: true, ..DEAD },
                NewConnection,
            ),
            (
                "RFC 8446 §2.3: early data on TCP, and the connection fails",
                Failure { code: Code::CouldntConnect, reused: false, early_data: true, ..DEAD },
                NewConnection,
            ),
            (
                "RFC 8446 §2.3: without early data a connection that fails is the transfer's failure",
                Failure { code: Code::CouldntConnect, reused: false, ..DEAD },
                Unknown,
            ),
            (
                "RFC 8446 §4.2.10: early data, and the certificate is refused",
                Failure { code: Code::PeerFailedVerification, reused: false, early_data: true, ..DEAD },
                Unknown,
            ),
            (
                "RFC 9001 §4.6: early data on a stream that was refused stays a refusal of HTTP/2",
                Failure { code: Code::QuicConnectError, retry: Http1, early_data: true, ..DEAD },
                Http1,
            ),
        ];
        for (name, facts, wanted) in rows {
            assert_eq!(after_failure(&facts), wanted, "{name}");
        }
    }

    /// In all circumstances, a request that must not be repeated is sent again only if its connection was
    /// never established.
    #[test]
    fn forbidden_stays_forbidden() {
        for code in [Code::GotNothing, Code::RecvError, Code::SendError, Code::Http2, Code::Http2Stream] {
            for bits in 0..8 {
                let [reused, received, early_data] = [1, 2, 4].map(|bit| bits & bit != 0);
                let facts = Failure { code, retry: Forbidden, reused, received, early_data };
                assert_eq!(after_failure(&facts), Forbidden, "{facts:?}");
            }
        }
    }
}
