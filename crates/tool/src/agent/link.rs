//! The protocol between a command and its agent: frames on a stream socket, the first one with the caller's
//! descriptors.
//!
//! A frame has its kind (one octet), the length of the rest (four octets, big-endian), and the rest. Texts in
//! it are preceded by their lengths in the same format.

use crate::bytes::Bytes;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// More than a kernel takes for the words of a command.
pub const LONGEST: usize = 16 << 20;
/// Standard input, output and error, and the working folder.
const DESCRIPTORS: usize = 4;

/// A command line, and state of its process that is not passed as a descriptor.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// Which build of the program asks.
    pub build: Bytes,
    /// Idle time in seconds after which the agent exits.
    pub idle_s: u32,
    pub umask: u32,
    /// The variables that are no part of the world's name, and their values.
    pub shell: Vec<(Bytes, Option<Bytes>)>,
    pub words: Vec<Bytes>,
}

/// The messages, by sender.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame {
    // The caller.
    Call(Call),
    /// The password that the agent asked for.
    Answer(Bytes),
    Status,
    Stop,
    // The agent.
    /// The agent starts the call; from here on it is not repeated. Contains its process ID.
    Taken(u32),
    /// Nothing was done: the caller is of another build (then the agent exits), or of another world.
    Refused {
        goes: bool,
    },
    /// The prompt for a password.
    Ask(Bytes),
    /// The last bytes of a word are a secret.
    Hide {
        word: u32,
        bytes: u32,
    },
    /// The exit code.
    Done(i32),
    /// The text for `--agent-status`.
    State(Bytes),
}

#[derive(Default)]
struct Fields(Vec<u8>);

impl Fields {
    fn number(&mut self, number: u32) {
        self.0.extend(number.to_be_bytes());
    }

    fn text(&mut self, text: &[u8]) {
        self.number(text.len() as u32);
        self.0.extend_from_slice(text);
    }
}

/// Takes fields from the front; none where something is missing.
struct Taken<'a>(&'a [u8]);

impl<'a> Taken<'a> {
    fn number(&mut self) -> Option<u32> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_be_bytes(*number))
    }

    fn text(&mut self) -> Option<&'a [u8]> {
        let length = self.number()? as usize;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(text)
    }
}

impl Call {
    fn write(&self, fields: &mut Fields) {
        fields.text(&self.build);
        fields.number(self.idle_s);
        fields.number(self.umask);
        fields.number(self.shell.len() as u32);
        for (name, value) in &self.shell {
            fields.text(name);
            fields.number(value.is_some().into());
            fields.text(value.as_deref().unwrap_or_default());
        }
        for word in &self.words {
            fields.text(word);
        }
    }

    fn read(fields: &mut Taken) -> Option<Call> {
        let build = fields.text()?.to_vec();
        let (idle_s, umask) = (fields.number()?, fields.number()?);
        let mut call = Call { build, idle_s, umask, ..Call::default() };
        for _ in 0..fields.number()? {
            let name = fields.text()?.to_vec();
            let is_set = fields.number()? != 0;
            let value = fields.text()?.to_vec();
            call.shell.push((name, is_set.then_some(value)));
        }
        while !fields.0.is_empty() {
            call.words.push(fields.text()?.to_vec());
        }
        Some(call)
    }
}

impl Frame {
    fn encode(&self) -> Vec<u8> {
        let mut fields = Fields::default();
        let kind = match self {
            Frame::Call(call) => {
                call.write(&mut fields);
                b'C'
            }
            Frame::Answer(text) => {
                fields.text(text);
                b'A'
            }
            Frame::Status => b'?',
            Frame::Stop => b'X',
            Frame::Taken(process) => {
                fields.number(*process);
                b'T'
            }
            Frame::Refused { goes } => {
                fields.number((*goes).into());
                b'R'
            }
            Frame::Ask(prompt) => {
                fields.text(prompt);
                b'P'
            }
            Frame::Hide { word, bytes } => {
                fields.number(*word);
                fields.number(*bytes);
                b'H'
            }
            Frame::Done(code) => {
                fields.number(code.cast_unsigned());
                b'D'
            }
            Frame::State(text) => {
                fields.text(text);
                b'S'
            }
        };
        [&[kind], (fields.0.len() as u32).to_be_bytes().as_slice(), &fields.0].concat()
    }

    fn decode(kind: u8, body: &[u8]) -> Option<Frame> {
        let mut fields = Taken(body);
        let frame = match kind {
            b'C' => Frame::Call(Call::read(&mut fields)?),
            b'A' => Frame::Answer(fields.text()?.to_vec()),
            b'?' => Frame::Status,
            b'X' => Frame::Stop,
            b'T' => Frame::Taken(fields.number()?),
            b'R' => Frame::Refused { goes: fields.number()? != 0 },
            b'P' => Frame::Ask(fields.text()?.to_vec()),
            b'H' => Frame::Hide { word: fields.number()?, bytes: fields.number()? },
            b'D' => Frame::Done(fields.number()?.cast_signed()),
            b'S' => Frame::State(fields.text()?.to_vec()),
            _ => return None,
        };
        fields.0.is_empty().then_some(frame)
    }
}

/// One end of the talk.
pub struct Link(UnixStream);

impl Link {
    pub fn new(stream: UnixStream) -> Link {
        Link(stream)
    }

    /// Returns a second handle of this end, for another thread.
    pub fn again(&self) -> io::Result<Link> {
        self.0.try_clone().map(Link)
    }

    /// How long to wait for the next frame; for ever without.
    pub fn wait_at_most(&self, limit: Option<Duration>) -> io::Result<()> {
        self.0.set_read_timeout(limit)
    }

    /// Ends the wait for the next frame.
    pub fn end_hearing(&self) {
        let _ = self.0.shutdown(Shutdown::Read);
    }

    pub fn send(&self, frame: &Frame) -> io::Result<()> {
        (&self.0).write_all(&frame.encode())
    }

    /// Sends a frame and descriptors with its first octet.
    pub fn send_with(&self, frame: &Frame, descriptors: &[BorrowedFd; DESCRIPTORS]) -> io::Result<()> {
        let bytes = frame.encode();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
        let mut beside = SendAncillaryBuffer::new(&mut space);
        if !beside.push(SendAncillaryMessage::ScmRights(descriptors)) {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        let sent = sendmsg(&self.0, &[IoSlice::new(&bytes)], &mut beside, SendFlags::NOSIGNAL)?;
        (&self.0).write_all(&bytes[sent..])
    }

    /// Returns the next frame; `None` if the other end is gone.
    pub fn receive(&self) -> io::Result<Option<Frame>> {
        Ok(self.receive_with()?.map(|(frame, _)| frame))
    }

    /// Returns the next frame, with its descriptors.
    pub fn receive_with(&self) -> io::Result<Option<(Frame, Vec<OwnedFd>)>> {
        let mut head = [0; 5];
        let mut descriptors = Vec::new();
        let mut filled = 0;
        while filled < head.len() {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
            let mut beside = RecvAncillaryBuffer::new(&mut space);
            let into = &mut [IoSliceMut::new(&mut head[filled..])];
            let got = match recvmsg(&self.0, into, &mut beside, RecvFlags::CMSG_CLOEXEC) {
                Err(rustix::io::Errno::INTR) => continue,
                other => other?.bytes,
            };
            for message in beside.drain() {
                if let RecvAncillaryMessage::ScmRights(some) = message {
                    descriptors.extend(some);
                }
            }
            if got == 0 {
                return if filled == 0 { Ok(None) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
            }
            filled += got;
        }
        let [kind, length @ ..] = head;
        let length = u32::from_be_bytes(length) as usize;
        if length > LONGEST {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut body = vec![0; length];
        (&self.0).read_exact(&mut body)?;
        let frame = Frame::decode(kind, &body).ok_or(io::ErrorKind::InvalidData)?;
        Ok(Some((frame, descriptors)))
    }
}

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    fn pair() -> (Link, Link) {
        let (one, other) = UnixStream::pair().unwrap();
        (Link::new(one), Link::new(other))
    }

    #[test]
    fn frames_arrive_as_they_were_sent() {
        let call = Call {
            build: b"1".to_vec(),
            idle_s: 7,
            umask: 0o27,
            shell: vec![(b"PWD".to_vec(), Some(b"/a b".to_vec())), (b"_".to_vec(), None)],
            words: vec![b"-o".to_vec(), Vec::new(), vec![0xff; 3 << 20]],
        };
        let frames = [
            Frame::Call(call),
            Frame::Answer(b"secret".to_vec()),
            Frame::Status,
            Frame::Stop,
            Frame::Taken(4711),
            Frame::Refused { goes: true },
            Frame::Ask(b"Password:".to_vec()),
            Frame::Hide { word: 3, bytes: 12 },
            Frame::Done(-1),
            Frame::State(b"idle".to_vec()),
        ];
        let (here, there) = pair();
        std::thread::scope(|scope| {
            scope.spawn(|| frames.iter().for_each(|frame| here.send(frame).unwrap()));
            for frame in &frames {
                assert_eq!(there.receive().unwrap().as_ref(), Some(frame));
            }
        });
        drop(here);
        assert_eq!(there.receive().unwrap(), None);
    }

    #[test]
    fn descriptors_go_along() {
        let (here, there) = pair();
        let null = File::open("/dev/null").unwrap();
        let zero = File::open("/dev/zero").unwrap();
        here.send_with(&Frame::Status, &[null.as_fd(), null.as_fd(), null.as_fd(), zero.as_fd()]).unwrap();
        let (_, descriptors) = there.receive_with().unwrap().unwrap();
        assert_eq!(descriptors.len(), 4);
        let mut read = [1; 3];
        File::from(descriptors.into_iter().nth(3).unwrap()).read_exact(&mut read).unwrap();
        assert_eq!(read, [0; 3]);
    }

    #[test]
    fn nonsense_is_an_error() {
        let bad: [&[u8]; 5] = [
            b"D\0\0\0\x01\0",         // a number cut short
            b"Z\0\0\0\0",             // no such kind
            b"D\xff\xff\xff\xff",     // longer than anything
            b"X\0\0\0\x01x",          // more than belongs there
            b"A\0\0\0\x04\0\0\0\x09", // a text that is longer than its frame
        ];
        for bytes in bad {
            let (here, there) = pair();
            (&here.0).write_all(bytes).unwrap();
            drop(here);
            assert!(there.receive().is_err(), "{bytes:?}");
        }
    }
}
