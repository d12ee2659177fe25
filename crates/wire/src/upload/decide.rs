//! The place at which an upload continues.

use std::fmt;

/// The way in which the peer is asked for the end of its part, and in which the rest is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// SIZE, then REST and STOR (RFC 3659 §4 and §5).
    Ftp,
    /// STAT, then WRITE at an offset (draft-ietf-secsh-filexfer-02 §6).
    Sftp,
    /// HEAD, then PATCH, to a resource of tus 1.0.
    Tus,
    /// HEAD, then PATCH, to a resource of draft-ietf-httpbis-resumable-upload.
    Draft,
}

impl Protocol {
    /// Returns whether the upload has a URL of its own. Its offset is then a promise: it exists until the
    /// upload is complete, and never goes back.
    pub fn has_own_resource(self) -> bool {
        matches!(self, Protocol::Tus | Protocol::Draft)
    }
}

/// The peer's answer to the question how much it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// It has so many bytes of the source.
    Has(u64),
    /// It has no such file or upload.
    Missing,
    /// It answered without a number.
    Silent,
}

/// Facts known before another attempt.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    pub protocol: Protocol,
    pub peer: Peer,
    /// The length of the source, if it is known.
    pub size: Option<u64>,
    /// The largest offset that the peer has confirmed so far.
    pub confirmed: u64,
}

/// The next attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Sends the source from this byte on.
    Continue(u64),
    /// Sends all of it, in place of the peer's part.
    StartAgain,
    /// The peer has all of it.
    Complete,
}

/// The reason why there is no next attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The peer has more than the source.
    TooLong { there: u64, size: u64 },
    /// The peer has less than it had confirmed.
    WentBack { there: u64, confirmed: u64 },
    /// The upload has a resource, and that does not say how much it has.
    NoOffset,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::TooLong { there, size } => {
                write!(f, "The server has {there} bytes and the source {size}: it is another file")
            }
            Refusal::WentBack { there, confirmed } => {
                write!(f, "The server has {there} bytes, after it had confirmed {confirmed}")
            }
            Refusal::NoOffset => f.write_str("The server does not say how much of the upload it has"),
        }
    }
}

/// Decides where the next attempt of an upload begins.
pub fn decide(facts: &Facts) -> Result<Step, Refusal> {
    let there = match facts.peer {
        Peer::Has(there) => there,
        Peer::Missing => return Ok(Step::StartAgain),
        Peer::Silent if facts.protocol.has_own_resource() => return Err(Refusal::NoOffset),
        Peer::Silent => return Ok(Step::StartAgain),
    };
    if let Some(size) = facts.size.filter(|size| there > *size) {
        return Err(Refusal::TooLong { there, size });
    }
    if there < facts.confirmed {
        return Err(Refusal::WentBack { there, confirmed: facts.confirmed });
    }
    match facts.size {
        // By the draft alone the last byte is not yet the end.
        Some(size) if there == size && facts.protocol != Protocol::Draft => Ok(Step::Complete),
        _ if there == 0 && !facts.protocol.has_own_resource() => Ok(Step::StartAgain),
        _ => Ok(Step::Continue(there)),
    }
}

#[cfg(test)]
mod tests {
    use super::Protocol::{Draft, Ftp, Sftp, Tus};
    use super::*;

    const ALL: [Protocol; 4] = [Ftp, Sftp, Tus, Draft];

    /// A file of 100 bytes, of which the peer has confirmed 40.
    fn facts(protocol: Protocol, peer: Peer) -> Facts {
        Facts { protocol, peer, size: Some(100), confirmed: 40 }
    }

    #[test]
    fn an_upload_continues_where_the_peer_says() {
        for protocol in ALL {
            for there in [40, 41, 70, 99] {
                assert_eq!(decide(&facts(protocol, Peer::Has(there))), Ok(Step::Continue(there)));
            }
        }
    }

    #[test]
    fn an_offset_beyond_the_source_or_behind_an_earlier_one_is_refused() {
        for protocol in ALL {
            for there in [101, 102, u64::MAX] {
                let refused = Err(Refusal::TooLong { there, size: 100 });
                assert_eq!(decide(&facts(protocol, Peer::Has(there))), refused);
            }
            for there in [0, 39] {
                let refused = Err(Refusal::WentBack { there, confirmed: 40 });
                assert_eq!(decide(&facts(protocol, Peer::Has(there))), refused);
            }
        }
    }

    #[test]
    fn all_bytes_are_the_end_except_by_the_draft() {
        for (protocol, step) in [
            (Ftp, Step::Complete),
            (Sftp, Step::Complete),
            (Tus, Step::Complete),
            (Draft, Step::Continue(100)),
        ] {
            assert_eq!(decide(&facts(protocol, Peer::Has(100))), Ok(step), "{protocol:?}");
        }
    }

    #[test]
    fn an_upload_that_is_gone_starts_again() {
        for protocol in ALL {
            assert_eq!(decide(&facts(protocol, Peer::Missing)), Ok(Step::StartAgain), "{protocol:?}");
        }
        for (protocol, answer) in [
            (Ftp, Ok(Step::StartAgain)),
            (Sftp, Ok(Step::StartAgain)),
            (Tus, Err(Refusal::NoOffset)),
            (Draft, Err(Refusal::NoOffset)),
        ] {
            assert_eq!(decide(&facts(protocol, Peer::Silent)), answer, "{protocol:?}");
        }
    }

    #[test]
    fn nothing_is_there_yet() {
        for (protocol, step) in [
            (Ftp, Step::StartAgain),
            (Sftp, Step::StartAgain),
            (Tus, Step::Continue(0)),
            (Draft, Step::Continue(0)),
        ] {
            let new = Facts { confirmed: 0, ..facts(protocol, Peer::Has(0)) };
            assert_eq!(decide(&new), Ok(step), "{protocol:?}");
        }
    }

    #[test]
    fn a_source_of_unknown_length_has_no_end_yet() {
        for protocol in ALL {
            let stream = |there| Facts { size: None, ..facts(protocol, Peer::Has(there)) };
            assert_eq!(decide(&stream(100)), Ok(Step::Continue(100)), "{protocol:?}");
            assert_eq!(decide(&stream(u64::MAX)), Ok(Step::Continue(u64::MAX)), "{protocol:?}");
        }
    }

    /// No answer of a peer, however odd, makes an upload continue beyond what it confirmed, or twice.
    #[test]
    fn any_answers_continue_at_the_peers_offset_or_not_at_all() {
        let offsets = [0, 1, 39, 40, 41, 99, 100, 101, u64::MAX];
        for protocol in ALL {
            for there in offsets {
                for confirmed in offsets {
                    for size in [None, Some(0), Some(100)] {
                        let facts = Facts { size, confirmed, ..facts(protocol, Peer::Has(there)) };
                        match decide(&facts) {
                            Ok(Step::Continue(at)) => {
                                assert!(at == there && at >= confirmed && size.is_none_or(|n| at <= n));
                            }
                            Ok(Step::StartAgain) => assert_eq!((there, confirmed), (0, 0)),
                            Ok(Step::Complete) => assert_eq!(size, Some(there)),
                            Err(_) => assert!(there < confirmed || size.is_some_and(|n| there > n)),
                        }
                    }
                }
            }
        }
    }
}
