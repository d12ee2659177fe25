//! Datagrams with descriptors between two processes, each within a deadline.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType, connect, recvmsg, sendmsg,
    socket_with, sockopt,
};

/// An end of the talk.
#[derive(Debug)]
pub(super) struct Link(OwnedFd);

/// A received datagram: its length in the caller's buffer, and its descriptor.
#[derive(Debug)]
pub(super) struct Received {
    pub bytes: usize,
    pub descriptor: Option<OwnedFd>,
}

/// Returns a new socket of the broker's type.
pub(super) fn new_socket() -> Result<OwnedFd, Errno> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)
}

impl Link {
    pub fn new(socket: OwnedFd) -> Link {
        Link(socket)
    }

    /// Connects without waiting: a full queue of the listener is an error.
    pub fn connect(address: &SocketAddrUnix) -> Result<Link, Errno> {
        let socket = new_socket()?;
        connect(&socket, address)?;
        Ok(Link(socket))
    }

    /// Returns whether the process at the other end belongs to that user. For a connecting process that is
    /// the one that called listen(2).
    pub fn is_of_user(&self, user: u32) -> bool {
        sockopt::socket_peercred(&self.0).is_ok_and(|peer| peer.uid.as_raw() == user)
    }

    /// Sends one datagram as a whole, or nothing. `false` if the socket's buffer is full.
    pub fn try_send(&self, parts: [&[u8]; 2], descriptor: Option<BorrowedFd<'_>>) -> io::Result<bool> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        let descriptors = descriptor.as_slice();
        if !descriptors.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        let parts = parts.map(IoSlice::new);
        loop {
            return match sendmsg(&self.0, &parts, &mut ancillary, SendFlags::NOSIGNAL) {
                Ok(_) => Ok(true),
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => Ok(false),
                Err(error) => Err(error.into()),
            };
        }
    }

    /// Receives one datagram; `None` if there is none. A datagram that exceeds the buffer, or whose
    /// descriptor found no place in this process, is an error. Zero bytes are the end.
    pub fn try_receive(&self, buffer: &mut [u8]) -> io::Result<Option<Received>> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let into = &mut [IoSliceMut::new(buffer)];
        let received = loop {
            match recvmsg(&self.0, into, &mut ancillary, RecvFlags::CMSG_CLOEXEC) {
                Ok(received) => break received,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        };
        let mut descriptors = Vec::new();
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(some) = message {
                descriptors.extend(some);
            }
        }
        let is_cut = received.flags.intersects(ReturnFlags::TRUNC | ReturnFlags::CTRUNC);
        // The buffer is padded and may have room for a second one.
        if is_cut || descriptors.len() > 1 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(Some(Received { bytes: received.bytes, descriptor: descriptors.pop() }))
    }

    /// Sends one datagram before the deadline.
    pub fn send(
        &self,
        parts: [&[u8]; 2],
        descriptor: Option<BorrowedFd<'_>>,
        until: Instant,
    ) -> io::Result<()> {
        while !self.try_send(parts, descriptor)? {
            self.wait(PollFlags::OUT, until)?;
        }
        Ok(())
    }

    /// Receives one datagram before the deadline. The end is an error.
    pub fn receive(&self, buffer: &mut [u8], until: Instant) -> io::Result<Received> {
        loop {
            // The reply is never there at once, so waiting first saves a call.
            self.wait(PollFlags::IN, until)?;
            match self.try_receive(buffer)? {
                Some(Received { bytes: 0, .. }) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Some(received) => return Ok(received),
                None => {}
            }
        }
    }

    fn wait(&self, events: PollFlags, until: Instant) -> io::Result<()> {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let limit =
                Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() };
            match poll(&mut [PollFd::new(&self.0, events)], Some(&limit)) {
                Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
                Ok(_) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
