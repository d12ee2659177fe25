//! Session: the state of a kept control connection, from one transfer to the next.

use std::sync::Arc;
use std::time::{Duration, Instant};

use net::handover::DecodeError;
use net::handover::codec::{Reader, Writer};
use zeroize::Zeroizing;

use super::ahead::Ahead;
use super::recorded::Server;
use super::servers::Stream;

/// State of a kept control connection that outlives a transfer.
#[derive(Default)]
pub struct Session {
    /// First directory, from PWD.
    pub entry_path: Option<Vec<u8>>,
    /// The directory of the last URL, up to its last slash and decoded; unknown after a failure.
    pub directory: Option<Vec<u8>>,
    /// TYPE last sent.
    pub data_type: Option<u8>,
    /// Whether EPSV was refused.
    pub no_epsv: bool,
    /// Whether EPRT was refused.
    pub no_eprt: bool,
    /// Whether data connections are protected (PROT P).
    pub private_data: bool,
    /// Number of files and listings moved over it.
    pub moved: u32,
    /// How the server handles commands that do not wait for each other.
    pub stream: Stream,
    /// The server's usual time for a reply.
    pub pace: Duration,
    /// Whether the server confirms a file one round trip after its last byte.
    pub confirms_late: bool,
    /// End of the last transfer, in this process.
    pub left: Option<Instant>,
    /// Commands sent ahead, whose replies the next transfer reads.
    pub ahead: Ahead,
    /// TLS settings of AUTH: data connections of later transfers need them too.
    pub tls: Option<Arc<net::tls::TlsConfig>>,
    /// The TLS sessions of a control connection that has returned to plain text.
    pub sessions: Option<net::SessionStore>,
    /// The recorded server, if exchanges are replayed.
    pub server: Option<Server>,
}

impl net::Memory for Session {
    /// A session with replies pending stays where it is, and so does one with protected data connections:
    /// they must resume sessions of TLS that rustls does not export.
    fn encode(&self) -> Option<Zeroizing<Vec<u8>>> {
        let Session {
            entry_path,
            directory,
            data_type,
            no_epsv,
            no_eprt,
            private_data,
            moved,
            stream,
            pace,
            confirms_late,
            left: _,
            ahead,
            tls,
            sessions,
            server,
        } = self;
        if server.is_some() || *private_data || tls.is_some() || sessions.is_some() || !ahead.is_empty() {
            return None;
        }
        let mut out = Writer::with_capacity(256);
        out.option(entry_path.as_ref(), |out, path| out.bytes(path));
        out.option(directory.as_ref(), |out, path| out.bytes(path));
        out.option(*data_type, Writer::u8);
        [*no_epsv, *no_eprt, ahead.refused].into_iter().for_each(|flag| out.bool(flag));
        out.u32(*moved);
        out.u8(*stream as u8);
        out.u64(u64::try_from(pace.as_micros()).unwrap_or(u64::MAX));
        out.bool(*confirms_late);
        Some(out.into_bytes())
    }
}

/// Reads the state of a connection from another process.
pub fn decode_memory(bytes: &[u8]) -> Option<Box<dyn net::Memory>> {
    Session::decode(bytes).ok().map(|session| Box::new(session) as Box<dyn net::Memory>)
}

impl Session {
    fn decode(bytes: &[u8]) -> Result<Session, DecodeError> {
        let mut input = Reader::new(bytes);
        let session = Session {
            entry_path: input.option("entry path", |input| Ok(input.bytes()?.to_vec()))?,
            directory: input.option("directory", |input| Ok(input.bytes()?.to_vec()))?,
            data_type: input.option("TYPE", Reader::u8)?,
            no_epsv: input.bool("EPSV")?,
            no_eprt: input.bool("EPRT")?,
            ahead: Ahead { refused: input.bool("commands ahead")?, ..Ahead::default() },
            moved: input.u32()?,
            stream: match input.u8()? {
                0 => Stream::Unknown,
                1 => Stream::Believed,
                2 => Stream::Proven,
                3 => Stream::Objected,
                _ => return Err(DecodeError::Value("pipelining")),
            },
            pace: Duration::from_micros(input.u64()?),
            confirms_late: input.bool("late confirmation")?,
            left: None,
            private_data: false,
            tls: None,
            sessions: None,
            server: None,
        };
        input.end()?;
        Ok(session)
    }
}

#[cfg(test)]
mod tests {
    use net::Memory;

    use super::super::ahead::{EarlyConnection, PendingReply};
    use super::*;

    #[test]
    fn a_session_survives_encoding() {
        let some = |bytes: &[u8]| Some(bytes.to_vec());
        for stream in [Stream::Unknown, Stream::Believed, Stream::Proven, Stream::Objected] {
            for (directory, moved) in [(None, 0), (some(b""), 1), (some(b"a/b"), u32::MAX)] {
                let before = Session {
                    entry_path: some(b"/pub"),
                    directory,
                    data_type: Some(b'I'),
                    no_epsv: moved == 0,
                    no_eprt: moved > 0,
                    moved,
                    stream,
                    pace: Duration::from_micros(1234),
                    confirms_late: moved == 1,
                    ..Session::default()
                };
                let encoded = before.encode().unwrap();
                let after = Session::decode(&encoded).unwrap();
                let facts = |s: &Session| {
                    let paths = (s.entry_path.clone(), s.directory.clone(), s.data_type);
                    (paths, s.no_epsv, s.no_eprt, s.moved, s.stream, s.pace, s.confirms_late)
                };
                assert_eq!(facts(&after), facts(&before));
                assert_eq!(after.encode().unwrap(), encoded);
                assert!((0..encoded.len()).all(|n| Session::decode(&encoded[..n]).is_err()));
            }
        }
    }

    #[test]
    fn sessions_bound_to_the_process_do_not_move() {
        let stays = |change: &dyn Fn(&mut Session)| {
            let mut session = Session::default();
            change(&mut session);
            session.encode().is_none()
        };
        assert!(!stays(&|_| ()));
        assert!(stays(&|session| session.private_data = true));
        assert!(stays(&|session| session.tls = Some(Arc::default())));
        assert!(stays(&|session| session.sessions = Some(net::SessionStore::new())));
        assert!(stays(&|session| session.ahead.owe(PendingReply::Passive)));
        assert!(stays(&|session| session.ahead.received.extend(b"226")));
        assert!(stays(&|session| session.ahead.early = Some(EarlyConnection::Port(1))));
    }
}
