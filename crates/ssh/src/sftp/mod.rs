//! SFTP version 3 (draft-ietf-secsh-filexfer-02) with OpenSSH's extensions (its PROTOCOL §4): requests and replies on a
//! channel. Many requests are under way at once; each reply names the one that it answers.

mod attrs;
mod reads;
mod reply;
mod request;
mod writes;

use std::collections::HashSet;

use crate::bytes::Reader;
use crate::error::Error;

pub use attrs::Attrs;
pub use reads::{Answer, Reads};
pub use reply::{Name, Reply, Status, Statvfs};
pub use request::{APPEND, CREATE, READ, Request, TRUNCATE, WRITE};
pub use writes::Writes;

/// The longest packet that is taken: OpenSSH's servers send up to 256 KiB.
const MAX_PACKET: usize = (256 << 10) + 1024;
/// What servers read and write at least (draft §3).
const PIECE: u32 = 32 << 10;
/// Replies that are waited for without looking at them.
const MAX_IGNORED: usize = 4096;

/// The client's side of a channel on which SFTP is spoken.
pub struct Client {
    next: u32,
    out: Vec<u8>,
    ignored: HashSet<u32>,
    greeted: bool,
    extensions: Extensions,
    /// The longest piece to read, and to write, at once.
    pieces: [u32; 2],
}

/// What a server can do beside the draft.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extensions {
    pub posix_rename: bool,
    pub statvfs: bool,
    pub limits: bool,
}

impl Default for Client {
    fn default() -> Client {
        Client::new()
    }
}

impl Client {
    /// Begins: the greeting is ready to be sent.
    pub fn new() -> Client {
        Client {
            next: 0,
            out: vec![0, 0, 0, 5, request::INIT, 0, 0, 0, 3],
            ignored: HashSet::new(),
            greeted: false,
            extensions: Extensions::default(),
            pieces: [PIECE; 2],
        }
    }

    /// Asks for something: the number that its reply will have.
    pub fn ask(&mut self, request: &Request) -> u32 {
        let id = self.next;
        self.next = self.next.wrapping_add(1);
        request.encode(id, &mut self.out);
        id
    }

    /// Asks for something whose reply nobody wants.
    pub fn ask_in_passing(&mut self, request: &Request) {
        let id = self.ask(request);
        self.forget(id);
    }

    /// Nobody wants this reply any more.
    pub fn forget(&mut self, id: u32) {
        self.ignored.insert(id);
    }

    /// Whether replies are still to come that nobody wants: more than that and the channel is better left.
    pub fn is_littered(&self) -> bool {
        self.ignored.len() > MAX_IGNORED
    }

    /// What is to be sent on the channel.
    pub fn output(&self) -> &[u8] {
        &self.out
    }

    /// So much of it has been.
    pub fn sent(&mut self, n: usize) {
        match n >= self.out.len() {
            true => self.out.clear(),
            false => drop(self.out.drain(..n)),
        }
    }

    pub fn extensions(&self) -> Extensions {
        self.extensions
    }

    /// The longest piece that is read at once.
    pub fn read_piece(&self) -> u32 {
        self.pieces[0]
    }

    /// The longest piece that is written at once.
    pub fn write_piece(&self) -> u32 {
        self.pieces[1]
    }

    /// Takes the server's answer to the greeting from the front of `bytes`: how many bytes it had.
    pub fn greet(&mut self, bytes: &[u8]) -> Result<Option<usize>, Error> {
        let Some(packet) = whole(bytes)? else { return Ok(None) };
        let mut reader = Reader::new(&packet[4..]);
        if reader.u8()? != request::VERSION || reader.u32()? < 3 {
            return Err(Error::Protocol("the server does not speak SFTP version 3"));
        }
        while !reader.is_empty() {
            let (name, value) = (reader.string()?, reader.string()?);
            match (name, value) {
                (b"posix-rename@openssh.com", b"1") => self.extensions.posix_rename = true,
                (b"statvfs@openssh.com", b"2") => self.extensions.statvfs = true,
                (b"limits@openssh.com", b"1") => self.extensions.limits = true,
                _ => {}
            }
        }
        self.greeted = true;
        Ok(Some(packet.len()))
    }

    /// Whether the server has answered the greeting.
    pub fn is_greeted(&self) -> bool {
        self.greeted
    }

    /// The answer to [`Request::Limits`]: how much may be read and written at once.
    pub fn limit(&mut self, body: &[u8]) -> Result<(), Error> {
        let mut reader = Reader::new(body);
        let [_, read, write, _] = [reader.u64()?, reader.u64()?, reader.u64()?, reader.u64()?];
        let most = (MAX_PACKET - 1024) as u64;
        self.pieces = [read, write].map(|limit| match limit {
            0 => PIECE,
            limit => limit.min(most).max(1024) as u32,
        });
        Ok(())
    }

    /// The reply at the front of `bytes`: how many bytes it has, the number of its request, and what it says. Of a reply that
    /// nobody wants there is only the length.
    pub fn reply<'a>(&mut self, bytes: &'a [u8]) -> Result<Option<Taken<'a>>, Error> {
        let Some(packet) = whole(bytes)? else { return Ok(None) };
        let (id, reply) = reply::parse(&packet[4..])?;
        let wanted = (!self.ignored.remove(&id)).then_some((id, reply));
        Ok(Some(Taken { length: packet.len(), wanted }))
    }
}

/// A reply that was taken.
#[derive(Debug)]
pub struct Taken<'a> {
    pub length: usize,
    pub wanted: Option<(u32, Reply<'a>)>,
}

/// The packet at the front, once it is all there. A length that lies is a fault at once.
fn whole(bytes: &[u8]) -> Result<Option<&[u8]>, Error> {
    let Ok(length) = Reader::new(bytes).u32() else { return Ok(None) };
    let length = length as usize;
    if length == 0 || length > MAX_PACKET {
        return Err(Error::Protocol("SFTP packet of a length that cannot be"));
    }
    Ok(bytes.get(..4 + length))
}

#[cfg(test)]
mod tests;
