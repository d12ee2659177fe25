//! permessage-deflate (RFC 7692): negotiation, compression of messages ([`Deflater`]) and decompression
//! ([`Inflater`]). The crate flate2 does the deflating.
//!
//! Plain bytes are returned in slices of at most 16 KiB, so that a decompression bomb needs no more memory
//! than its window.

use std::fmt;

use flate2::{Compress, Compression, FlushCompress};

use crate::inflater;

const NAME: &str = "permessage-deflate";
const SERVER_FORGETS: &str = "server_no_context_takeover";
const CLIENT_FORGETS: &str = "client_no_context_takeover";
const SERVER_WINDOW: &str = "server_max_window_bits";
const CLIENT_WINDOW: &str = "client_max_window_bits";

/// The largest window, as a power of two, and the smallest (section 7.1.2).
pub const MAX_WINDOW: u8 = 15;
pub const MIN_WINDOW: u8 = 8;

/// The end of a flush; it is not sent at the end of a message (section 7.2.1).
const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];

/// The most that is handed out at once.
const SLICE: usize = 16 * 1024;

/// The parameters that a client offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// No message is remembered when the next comes, on either side: memory is taken only within one, and
    /// less is saved.
    pub forgets: bool,
    /// The window that both sides are to have, as a power of two.
    pub window: u8,
}

/// The parameters that both sides agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agreed {
    /// Whether the server resets its window for each message.
    pub server_forgets: bool,
    /// We must.
    pub client_forgets: bool,
    /// How far back we may refer, as a power of two.
    pub client_window: u8,
}

/// The server accepted what was not offered, or its answer is malformed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadAnswer(String);

impl fmt::Display for BadAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the server accepts what was not offered: {}", self.0)
    }
}

impl Offer {
    /// The value of Sec-WebSocket-Extensions.
    pub fn field(self) -> String {
        let mut value = format!("{NAME}; {CLIENT_WINDOW}");
        if self.window < MAX_WINDOW {
            value = format!("{value}={0}; {SERVER_WINDOW}={0}", self.window);
        }
        if self.forgets {
            value = format!("{value}; {SERVER_FORGETS}; {CLIENT_FORGETS}");
        }
        value
    }

    /// Parses the server's answer in the same field; `None` if it wants no compression.
    pub fn agree(self, value: &[u8]) -> Result<Option<Agreed>, BadAnswer> {
        let bad = |what: &str| Err(BadAnswer(what.to_owned()));
        let value = String::from_utf8_lossy(value);
        let mut extensions = value.split(',').map(str::trim).filter(|extension| !extension.is_empty());
        let Some(accepted) = extensions.next() else { return Ok(None) };
        if let Some(second) = extensions.next() {
            return bad(second);
        }
        let mut parts = accepted.split(';').map(str::trim);
        if !parts.next().is_some_and(|name| name.eq_ignore_ascii_case(NAME)) {
            return bad(accepted);
        }
        let (forgets, window) = (self.forgets, self.window);
        let mut agreed = Agreed { server_forgets: false, client_forgets: forgets, client_window: window };
        let mut seen = Vec::new();
        for part in parts {
            let (name, value) =
                part.split_once('=').map_or((part, None), |(n, v)| (n.trim_end(), Some(v.trim())));
            let bits = value.and_then(|value| value.trim_matches('"').parse().ok());
            let bits = bits.filter(|bits| (MIN_WINDOW..=MAX_WINDOW).contains(bits));
            match (name, bits) {
                _ if seen.contains(&name) => return bad(part),
                (SERVER_FORGETS, _) if value.is_none() => agreed.server_forgets = true,
                (CLIENT_FORGETS, _) if value.is_none() => agreed.client_forgets = true,
                (SERVER_WINDOW, Some(bits)) if bits <= window => {}
                (CLIENT_WINDOW, Some(bits)) => agreed.client_window = bits.min(window),
                _ => return bad(part),
            }
            seen.push(name);
        }
        Ok(Some(agreed))
    }
}

/// Compresses messages, one after the other.
pub struct Deflater {
    /// There is none before the first message, and between messages that are not remembered.
    state: Option<Compress>,
    forgets: bool,
    window: usize,
    /// So much was compressed since all was last forgotten.
    since: usize,
}

impl Deflater {
    pub fn new(agreed: Agreed) -> Deflater {
        let window = 1 << agreed.client_window;
        Deflater { state: None, forgets: agreed.client_forgets, window, since: 0 }
    }

    /// Compresses a piece of a message. Output that is ready is appended to `out`; there may be none yet.
    pub fn piece(&mut self, data: &[u8], out: &mut Vec<u8>) {
        let whole = self.window == 1 << MAX_WINDOW;
        let mut rest = data;
        while !rest.is_empty() {
            // The compressor's own window is always the largest: in a smaller one it forgets in time.
            if !whole && self.since == self.window {
                self.run(&[], FlushCompress::Full, out);
                self.since = 0;
            }
            let room = if whole { rest.len() } else { self.window - self.since };
            let (now, later) = rest.split_at(room.min(rest.len()));
            self.run(now, FlushCompress::None, out);
            self.since = self.since.saturating_add(now.len());
            rest = later;
        }
    }

    /// Ends a fragment and, if it is the `last`, its message: appends all remaining output to `out`.
    pub fn end(&mut self, last: bool, out: &mut Vec<u8>) {
        self.run(&[], FlushCompress::Sync, out);
        if last {
            debug_assert!(out.ends_with(&TAIL));
            out.truncate(out.len() - TAIL.len());
            if self.forgets {
                (self.state, self.since) = (None, 0);
            }
        }
    }

    fn run(&mut self, mut data: &[u8], flush: FlushCompress, out: &mut Vec<u8>) {
        let state = self.state.get_or_insert_with(|| Compress::new(Compression::default(), false));
        loop {
            out.reserve(1024 + data.len() / 4);
            let before = state.total_in();
            // This cannot fail: there is room, and the parameters are valid.
            let _ = state.compress_vec(data, out, flush);
            data = &data[(state.total_in() - before) as usize..];
            if data.is_empty() && out.len() < out.capacity() {
                return;
            }
        }
    }
}

/// Decompresses messages.
pub struct Inflater {
    state: Option<inflater::Inflater>,
    forgets: bool,
    input: Vec<u8>,
    used: usize,
    /// The message ends with this input.
    ends: bool,
    /// There may be more without more input.
    pending: bool,
    /// Output that was not returned yet: at most one byte more than a slice, which shows that the slice is
    /// not the last.
    output: Vec<u8>,
}

/// A piece of a message.
#[derive(Debug, PartialEq, Eq)]
pub struct Slice {
    pub bytes: Vec<u8>,
    /// The message ends with it.
    pub last: bool,
}

/// The data is not valid deflate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corrupt;

impl fmt::Display for Corrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a compressed message is corrupt")
    }
}

impl Inflater {
    pub fn new(agreed: Agreed) -> Inflater {
        Inflater {
            state: None,
            forgets: agreed.server_forgets,
            input: Vec::new(),
            used: 0,
            ends: false,
            pending: false,
            output: Vec::new(),
        }
    }

    /// Whether [`Inflater::slice`] may have something.
    pub fn is_pending(&self) -> bool {
        self.pending
    }

    /// Accepts payload of a message. `ends`: the message ends with it. All slices of earlier payload must
    /// have been read.
    pub fn feed(&mut self, payload: &[u8], ends: bool) {
        debug_assert!(!self.pending, "slices are left");
        self.input.clear();
        self.input.extend_from_slice(payload);
        if ends {
            self.input.extend_from_slice(&TAIL);
        }
        (self.used, self.ends, self.pending) = (0, ends, true);
    }

    /// Returns the next slice of the output, if there is one.
    pub fn slice(&mut self) -> Result<Option<Slice>, Corrupt> {
        if !self.pending {
            return Ok(None);
        }
        self.fill()?;
        if self.output.len() > SLICE {
            let ahead = self.output.split_off(SLICE);
            let bytes = std::mem::replace(&mut self.output, ahead);
            return Ok(Some(Slice { bytes, last: false }));
        }
        let bytes = std::mem::take(&mut self.output);
        (self.pending, self.input) = (false, Vec::new());
        if self.ends && self.forgets {
            self.state = None;
        }
        Ok((self.ends || !bytes.is_empty()).then_some(Slice { bytes, last: self.ends }))
    }

    /// Inflates until there is a byte more than a slice, or all input is used up.
    fn fill(&mut self) -> Result<(), Corrupt> {
        let state = self.state.get_or_insert_with(inflater::Inflater::raw);
        let room = SLICE + 1;
        while self.output.len() < room {
            let had = self.output.len();
            self.output.resize(room, 0);
            let step = state.step(&self.input[self.used..], &mut self.output[had..]);
            self.output.truncate(had + step.map_or(0, |step| step.made));
            let step = step.map_err(|inflater::Corrupt| Corrupt)?;
            self.used += step.used;
            if step.ended {
                // A block that says it is the last is none for this extension (section 7.2.3.5).
                state.go_on();
            } else if step.made == 0 && self.used == self.input.len() {
                return Ok(());
            }
        }
        Ok(())
    }
}
