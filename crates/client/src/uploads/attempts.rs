//! Decides whether an upload is tried again.

use tables::Code;

/// Returns whether another attempt may succeed after this failure. `response` is the last reply's number;
/// `is_busy` says that the server may take the upload later.
pub fn is_retryable(code: Code, response: i64, is_busy: bool) -> bool {
    use Code as C;
    match code {
        // A connection that is lost, or can't be had at the moment.
        C::CouldntConnect
        | C::CouldntResolveHost
        | C::CouldntResolveProxy
        | C::FtpAcceptTimeout
        | C::GotNothing
        | C::Http2
        | C::Http2Stream
        | C::Http3
        | C::OperationTimedout
        | C::PartialFile
        | C::QuicConnectError
        | C::RecvError
        | C::SendError
        | C::Ssh
        | C::SslConnectError => true,
        // The server does not continue its part: all of the file is sent.
        C::FtpCouldntUseRest => true,
        C::HttpReturnedError => is_busy,
        // Replies of FTP that say "later" (RFC 959 §4.2).
        C::UploadFailed | C::WeirdServerReply | C::LoginDenied => response / 100 == 4,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_is_followed_by_another_attempt_and_a_refusal_is_not() {
        for (code, response, is_busy, wanted) in [
            (Code::SendError, 0, false, true),
            (Code::PartialFile, 226, false, true),
            (Code::OperationTimedout, 0, false, true),
            (Code::FtpCouldntUseRest, 501, false, true),
            (Code::UploadFailed, 452, false, true),
            (Code::UploadFailed, 550, false, false),
            (Code::HttpReturnedError, 423, true, true),
            (Code::HttpReturnedError, 403, false, false),
            (Code::LoginDenied, 530, false, false),
            (Code::RangeError, 0, false, false),
            (Code::PeerFailedVerification, 0, false, false),
            (Code::RemoteAccessDenied, 0, false, false),
            (Code::ReadError, 0, false, false),
        ] {
            assert_eq!(is_retryable(code, response, is_busy), wanted, "{code:?} {response}");
        }
    }
}
