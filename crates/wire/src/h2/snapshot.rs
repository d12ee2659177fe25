//! A session without streams as a plain value, from which another process continues it.
//!
//! The value comes from another process: [`Session::restore`] checks it against the limits that a live
//! session keeps.

use super::calm::Calm;
use super::hpack::{Decoder, DecoderState, Encoder, EncoderState};
use super::receive::Reading;
use super::session::Session;
use super::settings::{Config, OUR_HEADER_TABLE, PeerSettings};
use super::streams::Streams;
use super::window::{LARGEST, ReceiveWindow, SendWindow};

/// All that a session without streams consists of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    pub config: Config,
    pub peer: PeerSettings,
    pub encoder: EncoderState,
    pub decoder: DecoderState,
    /// Bytes that may be sent on the connection; negative after a setting took away what was used.
    pub send_window: i64,
    /// The connection's window for receiving: bytes that may still arrive, and those consumed and not yet
    /// returned to the peer; then its size and its largest size.
    pub receive_window: [u32; 4],
    /// The largest numbers of streams in use, of ours and of the peer's.
    pub highest: [u32; 2],
    /// SETTINGS of ours that were not acknowledged yet.
    pub unacknowledged: u32,
    /// The rate limit: frames without progress that are left, and the time of the last refill.
    pub calm: (u32, u64),
}

/// Most SETTINGS frames of ours that wait for an acknowledgement: a client sends one.
const MOST_UNACKNOWLEDGED: u32 = 1;

impl Session {
    /// Returns the session as a value. `None` while it has streams, input or output within it, and after a
    /// stream was reset, whose late frames may still arrive.
    pub fn snapshot(&self) -> Option<Snapshot> {
        let is_quiet = self.greeted
            && self.streams.is_untouched()
            && self.control.is_empty()
            && self.updates.is_empty()
            && self.turns.is_empty()
            && self.events.is_empty()
            && self.partial.is_empty()
            && self.block.is_none()
            && self.is_between_frames()
            && !self.is_closing();
        is_quiet.then(|| Snapshot {
            config: self.config.clone(),
            peer: self.peer.clone(),
            encoder: self.encoder.state(),
            decoder: self.decoder.state(),
            send_window: self.window.size(),
            receive_window: self.receive.parts(),
            highest: self.streams.highest,
            unacknowledged: self.unacknowledged,
            calm: self.calm.parts(),
        })
    }

    /// Continues a session; `None` if no session has such a value.
    pub fn restore(snapshot: &Snapshot) -> Option<Session> {
        let Snapshot { config, peer, highest: [ours, theirs], .. } = snapshot;
        let numbers = (*ours == 0 || ours % 2 == 1) && *ours < LARGEST - 2 && theirs % 2 == 0;
        let is_valid = numbers
            && *theirs <= LARGEST
            && snapshot.unacknowledged <= MOST_UNACKNOWLEDGED
            && config.is_valid()
            && peer.is_valid();
        if !is_valid {
            return None;
        }
        Some(Session {
            peer: peer.clone(),
            streams: Streams::after(snapshot.highest),
            encoder: Encoder::restore(&snapshot.encoder)?,
            decoder: Decoder::restore(&snapshot.decoder, OUR_HEADER_TABLE)?,
            window: SendWindow::of_size(snapshot.send_window)?,
            receive: ReceiveWindow::of_parts(snapshot.receive_window)?,
            reading: Reading::default(),
            greeted: true,
            unacknowledged: snapshot.unacknowledged,
            calm: Calm::of_parts(snapshot.calm)?,
            ..Session::silent(config.clone())
        })
    }
}
