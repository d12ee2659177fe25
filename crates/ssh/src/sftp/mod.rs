//! SFTP version 3 (draft-ietf-secsh-filexfer-02) with OpenSSH's extensions (its PROTOCOL §4): requests and
//! replies on a channel. Many requests are in flight at once; each reply names its request.

mod attrs;
mod reads;
mod reply;
mod request;
mod writes;

use std::collections::HashSet;

use crate::bytes::Reader;
use crate::error::Error;
use crate::queue::Queue;

pub use attrs::Attrs;
pub use reads::{Answer, EarlyRead, Reads};
pub use reply::{Name, Reply, Status, Statvfs};
pub use request::{APPEND, CREATE, READ, Request, TRUNCATE, WRITE};
pub use writes::Writes;

/// The longest packet that is taken: OpenSSH's servers send up to 256 KiB.
const MAX_PACKET: usize = (256 << 10) + 1024;
/// Minimum size that servers read and write (draft §3).
const PIECE: u32 = 32 << 10;
/// Replies that are waited for without looking at them.
const MAX_IGNORED: usize = 4096;

/// Maximum number of replies kept until they are collected.
const MAX_KEPT: usize = 16;
/// The first question of all: where the user is at home.
const HOME: u32 = 0;

/// The client side of a channel with SFTP. Requests need not wait for the server's greeting: they are the
/// same in version 3, no later version is negotiated, and a server of an older one is refused.
pub struct Client {
    next: u32,
    out: Queue,
    ignored: HashSet<u32>,
    kept: Vec<(u32, Vec<u8>)>,
    greeted: bool,
    extensions: Extensions,
    /// The number of the question for limits.
    limits: Option<u32>,
    home: Option<Result<Vec<u8>, Status>>,
    /// The longest piece to read, and to write, at once.
    pieces: [u32; 2],
    /// The last handle, and whether the next one is likely to be the same.
    handle: (Vec<u8>, bool),
}

/// The server's extensions.
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
    /// Creates a client. The greeting and the request for the home directory are ready to be sent.
    pub fn new() -> Client {
        let mut client = Client {
            next: HOME,
            out: Queue::default(),
            ignored: HashSet::new(),
            kept: Vec::new(),
            greeted: false,
            extensions: Extensions::default(),
            limits: None,
            home: None,
            pieces: [PIECE; 2],
            handle: (Vec::new(), false),
        };
        client.out.end().extend_from_slice(&[0, 0, 0, 5, request::INIT, 0, 0, 0, 3]);
        client.ask(&Request::RealPath { path: b"." });
        client
    }

    /// Asks for something: the number that its reply will have.
    pub fn ask(&mut self, request: &Request) -> u32 {
        let id = self.next;
        self.next = self.next.wrapping_add(1);
        request.encode(id, self.out.end());
        id
    }

    /// Sends a request whose reply will be ignored.
    pub fn ask_in_passing(&mut self, request: &Request) {
        let id = self.ask(request);
        self.forget(id);
    }

    /// Ignores the reply with this number.
    pub fn forget(&mut self, id: u32) {
        self.ignored.insert(id);
    }

    /// Returns whether so many ignored replies are outstanding that the channel should be abandoned.
    pub fn is_littered(&self) -> bool {
        self.ignored.len() > MAX_IGNORED
    }

    /// Bytes that wait to be sent.
    pub fn waiting(&self) -> usize {
        self.out.len()
    }

    /// Returns the output for the channel.
    pub fn output(&self) -> &[u8] {
        self.out.waiting()
    }

    /// So much of it has been.
    pub fn sent(&mut self, n: usize) {
        self.out.take(n);
    }

    pub fn extensions(&self) -> Extensions {
        self.extensions
    }

    /// Sets the likely first handle, for a server whose handles are known.
    pub fn expect_handle(&mut self, handle: &[u8]) {
        self.handle = (handle.to_vec(), true);
    }

    /// Returns the expected handle of the next file, if nothing else is open. Servers that number open files
    /// reuse the freed number: one that has returned the same handle twice will do so again.
    fn expected_handle(&self) -> Option<&[u8]> {
        let (handle, likely) = &self.handle;
        likely.then_some(handle)
    }

    fn remember(&mut self, handle: &[u8]) {
        let likely = self.handle.0 == handle;
        if !likely {
            self.handle.0 = handle.to_vec();
        }
        self.handle.1 = likely;
    }

    /// The longest piece that is read at once.
    pub fn read_piece(&self) -> u32 {
        self.pieces[0]
    }

    /// The longest piece that is written at once.
    pub fn write_piece(&self) -> u32 {
        self.pieces[1]
    }

    /// Processes the server's greeting, and requests its limits for reads and writes if it supports that.
    fn greet(&mut self, packet: &[u8]) -> Result<(), Error> {
        let mut reader = Reader::new(packet);
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
        if self.extensions.limits {
            self.limits = Some(self.ask(&Request::Limits));
        }
        Ok(())
    }

    /// Whether the server has answered the greeting.
    pub fn is_greeted(&self) -> bool {
        self.greeted
    }

    /// Returns the user's home folder on the server, once the server has named it.
    pub fn home(&self) -> Option<&Result<Vec<u8>, Status>> {
        self.home.as_ref()
    }

    /// The answer to [`Request::Limits`]: how much may be read and written at once.
    fn limit(&mut self, body: &[u8]) -> Result<(), Error> {
        let mut reader = Reader::new(body);
        let [_, read, write, _] = [reader.u64()?, reader.u64()?, reader.u64()?, reader.u64()?];
        let most = (MAX_PACKET - 1024) as u64;
        self.pieces = [read, write].map(|limit| match limit {
            0 => PIECE,
            limit => limit.min(most).max(1024) as u32,
        });
        Ok(())
    }

    /// Parses the reply at the front of `bytes`: its length, the number of its request, and its contents. An
    /// ignored reply has only a length.
    pub fn reply<'a>(&mut self, bytes: &'a [u8]) -> Result<Option<ReceivedReply<'a>>, Error> {
        let Some(packet) = front_packet(bytes)? else { return Ok(None) };
        let length = packet.len();
        if !self.greeted {
            self.greet(&packet[4..])?;
            return Ok(Some(ReceivedReply { length, wanted: None }));
        }
        let (id, reply) = reply::parse(&packet[4..])?;
        if let Reply::Handle(handle) = reply {
            self.remember(handle);
        }
        let wanted = (!self.asked_itself(id, &reply)? && !self.ignored.remove(&id)).then_some((id, reply));
        Ok(Some(ReceivedReply { length, wanted }))
    }

    /// Whether this answers a question of the client's own.
    fn asked_itself(&mut self, id: u32, reply: &Reply<'_>) -> Result<bool, Error> {
        if self.limits == Some(id) {
            self.limits = None;
            if let Reply::Extended(body) = reply {
                self.limit(body)?;
            }
            return Ok(true);
        }
        if id != HOME || self.home.is_some() {
            return Ok(false);
        }
        self.home = Some(match reply {
            Reply::Names(names) => names.first().map(|name| name.name.to_vec()).ok_or(Status::FAILURE),
            Reply::Status(status, _) => Err(*status),
            _ => Err(Status::FAILURE),
        });
        Ok(true)
    }

    /// Keeps a reply until it is collected: servers may reply in any order.
    pub fn keep(&mut self, id: u32, packet: &[u8]) -> Result<(), Error> {
        if self.kept.len() >= MAX_KEPT {
            return Err(Error::Protocol("SFTP replies that nobody has asked for"));
        }
        self.kept.push((id, packet.to_vec()));
        Ok(())
    }

    /// Collects a kept reply.
    pub fn kept<T>(&mut self, id: u32, look: impl FnOnce(Reply<'_>) -> T) -> Option<T> {
        let at = self.kept.iter().position(|(kept, _)| *kept == id)?;
        let (_, packet) = self.kept.swap_remove(at);
        reply::parse(&packet[4..]).ok().map(|(_, reply)| look(reply))
    }
}

/// A reply that was taken.
#[derive(Debug)]
pub struct ReceivedReply<'a> {
    pub length: usize,
    pub wanted: Option<(u32, Reply<'a>)>,
}

/// Returns the packet at the front, once it is complete. An impossible length fails at once.
fn front_packet(bytes: &[u8]) -> Result<Option<&[u8]>, Error> {
    let Ok(length) = Reader::new(bytes).u32() else { return Ok(None) };
    let length = length as usize;
    if length == 0 || length > MAX_PACKET {
        return Err(Error::Protocol("SFTP packet of a length that cannot be"));
    }
    Ok(bytes.get(..4 + length))
}

#[cfg(test)]
mod tests;
