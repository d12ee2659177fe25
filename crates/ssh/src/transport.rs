//! The transport layer (RFC 4253): identification, packets, key exchange at the start and again later. Its
//! input and output are bytes; messages are exchanged with the upper layer. Everything that the peer can make
//! grow is bounded.

use std::ops::Range;

use crate::bytes::{Put, Reader};
use crate::cipher::{MAX_PACKET, Open, Seal};
use crate::compress::{Deflate, Inflate};
use crate::error::{Error, printable};
use crate::kex::{Algorithms, ClientExchange, Material, Offer, Packing};
use crate::numbers::*;
use crate::public::{self, CERT_SUFFIX, Certificate, PublicKey};
use crate::queue::Queue;

/// Lines before the identification, in bytes (RFC 4253 §4.2 allows any number).
const MAX_GREETING: usize = 64 << 10;
/// Maximum of messages that wait for new keys: none of them is data.
const MAX_HELD: usize = 4096;
/// New keys after so many bytes (RFC 4253 §9).
const REKEY_BYTES: u64 = 1 << 30;
/// And after so many packets (RFC 4344 §3.1).
const REKEY_PACKETS: u32 = 1 << 31;
/// Size of one read, in addition to an incomplete packet.
const FIRST_INPUT: usize = 16 << 10;
const MAX_INPUT: usize = MAX_PACKET + (64 << 10);

/// Configuration of a transport.
#[derive(Clone, Debug)]
pub struct Config {
    /// `SSH-2.0-` and a name.
    pub identification: String,
    pub offer: Offer,
    /// New keys after so many bytes in either direction.
    pub rekey_bytes: u64,
    /// Runs computation that takes much stack: key exchange and signatures.
    pub with_room: WithRoom,
}

/// A function that runs the work it is passed, once, where the stack has room for it (some 64 KiB).
pub type WithRoom = fn(&mut (dyn FnMut() + Send));

impl Default for Config {
    fn default() -> Config {
        let identification = concat!("SSH-2.0-Warmwire_", env!("CARGO_PKG_VERSION")).to_owned();
        Config { identification, offer: Offer::default(), rekey_bytes: REKEY_BYTES, with_room: |work| work() }
    }
}

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The server has proved that it has [`Transport::host_key`]. The caller must accept the key
    /// ([`Transport::accept_host`]) before the handshake continues.
    HostKey,
    /// A message for the layers above: [`Transport::message`].
    Message,
}

/// A side of a connection.
pub struct Transport {
    config: Config,
    input: Input,
    message: Message,
    out: Queue,
    open: Open,
    seal: Seal,
    received: u32,
    sent: u32,
    /// Bytes since the keys in use, in both directions.
    moved: [u64; 2],
    inflate: Option<Inflate>,
    deflate: Option<Deflate>,
    packing: [Packing; 2],
    theirs: Option<Vec<u8>>,
    session: Option<Vec<u8>>,
    host_key: Vec<u8>,
    kex: Option<Box<Exchange>>,
    strict: bool,
    /// Messages that wait until the keys are new.
    held: Vec<crate::crypto::Secret>,
    logged_in: bool,
    signature_algorithms: Vec<String>,
    names: [String; 2],
}

/// Received bytes.
#[derive(Default)]
struct Input {
    bytes: Vec<u8>,
    from: usize,
    to: usize,
}

/// The position of the current message.
enum Message {
    Input(Range<usize>),
    Expanded(Vec<u8>),
}

/// A key exchange that is going on.
struct Exchange {
    our_init: Vec<u8>,
    their_init: Vec<u8>,
    chosen: Option<Algorithms>,
    ours: Option<ClientExchange>,
    public: Vec<u8>,
    skip: bool,
    /// The result of the exchange after the server's proof.
    done: Option<KexResult>,
    /// Our half of the new keys is in use.
    sealed: bool,
}

struct KexResult {
    secret: crate::crypto::Secret,
    hash: Vec<u8>,
}

impl Transport {
    /// Creates a transport. Identification and our offer are ready to be sent.
    pub fn new(config: Config) -> Result<Transport, Error> {
        let mut out = Queue::default();
        out.end().extend_from_slice(format!("{}\r\n", config.identification).as_bytes());
        let mut transport = Transport {
            config,
            input: Input::default(),
            message: Message::Expanded(Vec::new()),
            out,
            open: Open::Clear,
            seal: Seal::Clear,
            received: 0,
            sent: 0,
            moved: [0; 2],
            inflate: None,
            deflate: None,
            packing: [Packing::None; 2],
            theirs: None,
            session: None,
            host_key: Vec::new(),
            kex: None,
            strict: false,
            held: Vec::new(),
            logged_in: false,
            signature_algorithms: Vec::new(),
            names: Default::default(),
        };
        transport.rekey()?;
        Ok(transport)
    }

    /// Returns room for received bytes; report their number to [`Transport::received`].
    pub fn space(&mut self) -> &mut [u8] {
        self.input.space()
    }

    pub fn received(&mut self, n: usize) {
        self.input.to = (self.input.to + n).min(self.input.bytes.len());
    }

    /// Returns the bytes to send.
    pub fn output(&self) -> &[u8] {
        self.out.waiting()
    }

    /// So much of it has been.
    pub fn sent(&mut self, n: usize) {
        self.out.take(n);
    }

    /// The server's identification, without its line end.
    pub fn server(&self) -> String {
        self.theirs.as_deref().map(printable).unwrap_or_default()
    }

    /// Returns the server's host key as a blob: a certificate if one was negotiated.
    pub fn host_key(&self) -> &[u8] {
        &self.host_key
    }

    /// Returns the session identifier, which is signed to prove a login.
    pub fn session_id(&self) -> &[u8] {
        self.session.as_deref().unwrap_or_default()
    }

    /// Signature algorithms that the server takes from users (RFC 8308 §3.1); none when it has not said.
    pub fn signature_algorithms(&self) -> &[String] {
        &self.signature_algorithms
    }

    /// The names of the key exchange method and of the cipher.
    pub fn algorithms(&self) -> &[String; 2] {
        &self.names
    }

    /// Whether data may be sent now: not while keys are exchanged.
    pub fn is_open(&self) -> bool {
        self.session.is_some() && self.kex.is_none()
    }

    /// Returns the number of received bytes that have not been processed.
    pub fn pending(&self) -> usize {
        self.input.to - self.input.from
    }

    /// The message of the last step.
    pub fn message(&self) -> &[u8] {
        match &self.message {
            Message::Input(range) => &self.input.bytes[range.clone()],
            Message::Expanded(bytes) => bytes,
        }
    }

    /// Processes received bytes. Returns `None` if more are needed, or the host key has not been accepted
    /// yet.
    pub fn step(&mut self) -> Result<Option<Step>, Error> {
        if self.theirs.is_none() && !self.identification()? {
            return Ok(None);
        }
        loop {
            if self.kex.as_ref().is_some_and(|kex| kex.done.is_some() && !kex.sealed) {
                return Ok(None);
            }
            if !self.next_packet()? {
                return Ok(None);
            }
            if let Some(step) = self.dispatch()? {
                return Ok(Some(step));
            }
        }
    }

    /// Sends a message, which is its parts one behind the other; while keys are exchanged it waits.
    pub fn send(&mut self, parts: &[&[u8]]) -> Result<(), Error> {
        if self.kex.is_some() || self.session.is_none() {
            if self.held.len() >= MAX_HELD {
                return Err(Error::Protocol("too much is asked while keys are exchanged"));
            }
            self.held.push(parts.concat().into());
            return Ok(());
        }
        self.seal(parts)?;
        self.rekey_if_due()
    }

    /// The host key is the right one.
    pub fn accept_host(&mut self) -> Result<(), Error> {
        self.use_new_keys()
    }

    /// Records the login: from now on packets may be compressed.
    pub fn logged_in(&mut self) {
        self.logged_in = true;
        self.pack();
    }

    /// Returns the function that runs computations with large stack frames.
    pub(crate) fn with_room(&self) -> WithRoom {
        self.config.with_room
    }

    /// Starts a key exchange, unless one is in progress.
    pub fn rekey(&mut self) -> Result<(), Error> {
        if self.kex.is_some() {
            return Ok(());
        }
        let our_init = self.config.offer.message(self.session.is_none())?;
        self.seal(&[&our_init])?;
        self.kex = Some(Box::new(Exchange {
            our_init,
            their_init: Vec::new(),
            chosen: None,
            ours: None,
            public: Vec::new(),
            skip: false,
            done: None,
            sealed: false,
        }));
        Ok(())
    }

    /// Says goodbye.
    pub fn disconnect(&mut self, reason: u32, text: &str) {
        let mut message = vec![DISCONNECT];
        message.put_u32(reason);
        message.put_string(text);
        message.put_string("");
        let _ = self.seal(&[&message]); // nothing follows that could report an error
    }

    fn seal(&mut self, parts: &[&[u8]]) -> Result<(), Error> {
        let out = self.out.end();
        let before = out.len();
        match &mut self.deflate {
            Some(deflate) => {
                let packed = deflate.packet(parts)?;
                self.seal.packet(self.sent, &[&packed], out)?;
            }
            None => self.seal.packet(self.sent, parts, out)?,
        }
        self.sent = self.sent.wrapping_add(1);
        self.moved[0] += (out.len() - before) as u64;
        Ok(())
    }

    fn rekey_if_due(&mut self) -> Result<(), Error> {
        let bytes = self.moved.iter().any(|moved| *moved >= self.config.rekey_bytes);
        let packets = self.strict && self.sent.max(self.received) >= REKEY_PACKETS;
        if (bytes || packets) && self.is_open() { self.rekey() } else { Ok(()) }
    }
}

impl Input {
    fn space(&mut self) -> &mut [u8] {
        if self.from == self.to {
            (self.from, self.to) = (0, 0);
        }
        if self.bytes.len() - self.to < FIRST_INPUT / 2 && self.from > 0 {
            self.bytes.copy_within(self.from..self.to, 0);
            (self.from, self.to) = (0, self.to - self.from);
        }
        if self.bytes.len() - self.to < FIRST_INPUT / 2 {
            let length = (self.bytes.len() * 4).clamp(FIRST_INPUT, MAX_INPUT);
            self.bytes.resize(length, 0);
        }
        &mut self.bytes[self.to..]
    }
}

impl Transport {
    /// Reads lines up to the server's identification.
    fn identification(&mut self) -> Result<bool, Error> {
        loop {
            let waiting = &self.input.bytes[self.input.from..self.input.to];
            let Some(end) = waiting.iter().position(|b| *b == b'\n') else {
                return match waiting.len() >= 8192 {
                    true => Err(Error::NotSsh("the server's greeting has a line without end")),
                    false => Ok(false),
                };
            };
            let line = waiting[..end].strip_suffix(b"\r").unwrap_or(&waiting[..end]).to_vec();
            self.input.from += end + 1;
            self.moved[1] += end as u64 + 1;
            if line.starts_with(b"SSH-") {
                if !line.starts_with(b"SSH-2.0-") && !line.starts_with(b"SSH-1.99-") {
                    return Err(Error::NotSsh("the server speaks an old version of SSH"));
                }
                self.theirs = Some(line);
                return Ok(true);
            }
            if self.moved[1] > MAX_GREETING as u64 {
                return Err(Error::NotSsh("the server's greeting has no end"));
            }
        }
    }

    /// Opens the next packet, if it is there.
    fn next_packet(&mut self) -> Result<bool, Error> {
        let waiting = &mut self.input.bytes[self.input.from..self.input.to];
        let Some(size) = self.open.size(self.received, waiting)? else { return Ok(false) };
        let Some(packet) = waiting.get_mut(..size) else { return Ok(false) };
        let payload = self.open.open(self.received, packet)?;
        let payload = payload.start + self.input.from..payload.end + self.input.from;
        self.input.from += size;
        self.received = self.received.wrapping_add(1);
        self.moved[1] += size as u64;
        self.message = match &mut self.inflate {
            Some(inflate) => Message::Expanded(inflate.packet(&self.input.bytes[payload])?),
            None => Message::Input(payload),
        };
        Ok(true)
    }

    fn dispatch(&mut self) -> Result<Option<Step>, Error> {
        let number = *self.message().first().ok_or(Error::Malformed)?;
        let beginning = self.session.is_none();
        let skip = self.kex.as_mut().is_some_and(|kex| std::mem::take(&mut kex.skip));
        match number {
            _ if skip => {}
            DISCONNECT => return Err(self.disconnected()?),
            KEXINIT => with_room(self.config.with_room, || self.offered())?,
            KEX_REPLY => return with_room(self.config.with_room, || self.replied()),
            NEWKEYS => self.new_keys()?,
            // An attacker in the middle could inject them, because nothing is authenticated yet.
            _ if beginning && self.strict => {
                return Err(Error::Protocol("a message in the first key exchange"));
            }
            IGNORE | DEBUG | UNIMPLEMENTED => {}
            _ if beginning => return Err(Error::Protocol("a message before there are keys")),
            _ if self.kex.as_ref().is_some_and(|kex| !kex.their_init.is_empty()) => {
                return Err(Error::Protocol("a message while keys are exchanged"));
            }
            EXT_INFO => self.extensions()?,
            _ => {
                self.rekey_if_due()?;
                return Ok(Some(Step::Message));
            }
        }
        Ok(None)
    }

    fn disconnected(&self) -> Result<Error, Error> {
        let mut reader = Reader::new(&self.message()[1..]);
        Ok(Error::Disconnected(reader.u32()?, printable(reader.string()?)))
    }

    fn extensions(&mut self) -> Result<(), Error> {
        let mut reader = Reader::new(&self.message()[1..]);
        let mut algorithms = Vec::new();
        for _ in 0..reader.u32()?.min(64) {
            let (name, value) = (reader.string()?, reader.string()?);
            if name == b"server-sig-algs" {
                let names =
                    Reader::new(&[&(value.len() as u32).to_be_bytes(), value].concat()).names()?.join(",");
                algorithms = names.split(',').map(str::to_owned).collect();
            }
        }
        self.signature_algorithms = algorithms;
        Ok(())
    }

    /// Handles the server's KEXINIT, whether a reply to ours or its own initiative.
    fn offered(&mut self) -> Result<(), Error> {
        let first = self.session.is_none();
        let chosen = self.config.offer.choose(self.message())?;
        if first {
            self.strict = chosen.strict;
            if chosen.strict && self.received != 1 {
                return Err(Error::Protocol("something came before the first key exchange"));
            }
        }
        self.rekey()?;
        let their_init = self.message().to_vec();
        let (ours, public) = ClientExchange::begin(chosen.method)?;
        let mut message = vec![KEX_INIT];
        match chosen.method.has_numbers() {
            true => message.put_mpint(&public),
            false => message.put_string(&public),
        }
        let kex = self.kex.as_mut().ok_or(Error::Malformed)?;
        if !kex.their_init.is_empty() {
            return Err(Error::Protocol("a second offer in a key exchange"));
        }
        kex.their_init = their_init;
        kex.skip = chosen.skip;
        (kex.ours, kex.public, kex.chosen) = (Some(ours), public, Some(chosen));
        self.seal(&[&message])
    }

    /// The server's half, with its proof.
    fn replied(&mut self) -> Result<Option<Step>, Error> {
        let unexpected = Error::Protocol("half of a key exchange that is not going on");
        let kex = self.kex.as_mut().ok_or(unexpected.clone())?;
        let (Some(ours), Some(chosen)) = (kex.ours.take(), kex.chosen.clone()) else {
            return Err(unexpected);
        };
        let public = std::mem::take(&mut kex.public);
        let mut reader = Reader::new(&self.message()[1..]);
        let (host_key, theirs) = (reader.string()?.to_vec(), reader.string()?.to_vec());
        let signature = reader.string()?.to_vec();
        if self.session.is_some() && host_key != self.host_key {
            return Err(Error::Unproved("its host key has changed on the way"));
        }
        let secret = ours.finish(strip(&theirs, chosen.method.has_numbers())?)?;
        let hash = self.exchange_hash(&chosen, [&host_key, &public, &theirs, &secret])?;
        verify(&chosen.host_key, &host_key, &hash, &signature)?;
        let first = self.session.is_none();
        self.host_key = host_key;
        self.names = chosen.names;
        if let Some(kex) = &mut self.kex {
            kex.done = Some(KexResult { secret, hash });
        }
        match first {
            true => Ok(Some(Step::HostKey)),
            false => self.use_new_keys().map(|()| None),
        }
    }

    /// RFC 4253 §8: both identifications, both offers, the host key, both public values, the secret.
    fn exchange_hash(&self, chosen: &Algorithms, parts: [&[u8]; 4]) -> Result<Vec<u8>, Error> {
        let kex = self.kex.as_ref().ok_or(Error::Malformed)?;
        let [host_key, ours, theirs, secret] = parts;
        let mut bytes = Vec::new();
        bytes.put_string(&self.config.identification);
        bytes.put_string(self.theirs.as_deref().unwrap_or_default());
        bytes.put_string(&kex.our_init);
        bytes.put_string(&kex.their_init);
        bytes.put_string(host_key);
        match chosen.method.has_numbers() {
            true => bytes.put_mpint(ours),
            false => bytes.put_string(ours),
        }
        bytes.put_string(theirs);
        Ok(chosen.method.hash().of(&[&bytes, secret]))
    }

    /// Sends NEWKEYS and encrypts with the new keys from here on.
    fn use_new_keys(&mut self) -> Result<(), Error> {
        let missing = Error::Protocol("there are no new keys");
        self.seal(&[&[NEWKEYS]])?;
        let kex = self.kex.as_mut().ok_or(missing.clone())?;
        let (Some(done), Some(chosen)) = (&kex.done, &kex.chosen) else { return Err(missing) };
        let session = self.session.get_or_insert_with(|| done.hash.clone());
        let hash = chosen.method.hash();
        let material = Material { hash, secret: &done.secret, exchange: &done.hash, session };
        self.seal = Seal::new(&material.keys(chosen.out, true))?;
        kex.sealed = true;
        self.packing[0] = chosen.out.packing;
        self.deflate = None;
        self.moved[0] = 0;
        if self.strict {
            self.sent = 0;
        }
        self.pack();
        Ok(())
    }

    /// Handles the server's NEWKEYS: its next messages use the new keys.
    fn new_keys(&mut self) -> Result<(), Error> {
        let unexpected = Error::Protocol("new keys that nobody has agreed on");
        let kex = self.kex.take().filter(|kex| kex.sealed).ok_or(unexpected.clone())?;
        let (Some(done), Some(chosen)) = (&kex.done, &kex.chosen) else { return Err(unexpected) };
        let session = self.session.as_deref().unwrap_or_default();
        let hash = chosen.method.hash();
        let material = Material { hash, secret: &done.secret, exchange: &done.hash, session };
        self.open = Open::new(&material.keys(chosen.inward, false))?;
        self.packing[1] = chosen.inward.packing;
        self.inflate = None;
        self.moved[1] = 0;
        if self.strict {
            self.received = 0;
        }
        self.pack();
        for message in std::mem::take(&mut self.held) {
            self.seal(&[&message])?;
        }
        Ok(())
    }

    /// Starts compression: with the keys that it was negotiated for, or after the login.
    fn pack(&mut self) {
        let due = |packing| packing == Packing::Zlib || packing == Packing::Delayed && self.logged_in;
        let [out, inward] = self.packing.map(due);
        if out && self.deflate.is_none() {
            self.deflate = Some(Deflate::new());
        }
        if inward && self.inflate.is_none() {
            self.inflate = Some(Inflate::new());
        }
    }
}

/// Returns the result of `work`, which `run` runs.
#[inline(never)]
pub(crate) fn with_room<R: Send>(run: WithRoom, work: impl FnOnce() -> R + Send) -> R {
    let mut work = Some(work);
    let mut result = None;
    run(&mut || result = work.take().map(|work| work()));
    result.expect("the work is run once")
}

/// A public number is read as one; a string is taken as it is.
fn strip(theirs: &[u8], number: bool) -> Result<&[u8], Error> {
    match number {
        true if theirs.first().is_some_and(|first| first & 0x80 != 0) => Err(Error::Malformed),
        true => Ok(&theirs[theirs.iter().take_while(|b| **b == 0).count()..]),
        false => Ok(theirs),
    }
}

fn verify(algorithm: &str, blob: &[u8], hash: &[u8], signature: &[u8]) -> Result<(), Error> {
    if public::type_of(blob) != type_on_wire(algorithm) {
        return Err(Error::Unproved("a key of another type"));
    }
    let key = match algorithm.ends_with(CERT_SUFFIX) {
        true => Certificate::parse(blob).map_err(|_| Error::Unproved("a certificate that is none"))?.key,
        false => PublicKey::parse(blob).map_err(|_| Error::Unproved("a key that is none"))?,
    };
    let plain = algorithm.strip_suffix(CERT_SUFFIX).unwrap_or(algorithm);
    match key.verify(plain, hash, signature) {
        true => Ok(()),
        false => Err(Error::Unproved("a wrong signature")),
    }
}

/// How keys call themselves that prove themselves by this algorithm.
fn type_on_wire(algorithm: &str) -> String {
    match algorithm.strip_suffix(CERT_SUFFIX) {
        Some(plain) => format!("{}{CERT_SUFFIX}", public::type_for(plain)),
        None => public::type_for(algorithm).to_owned(),
    }
}
