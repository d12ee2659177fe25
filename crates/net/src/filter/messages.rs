//! DNS messages to and from one server: one in a datagram, or on a stream after its length (RFC 1035 section
//! 4.2).

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::{Poll, ready};

use runtime::{Reactor, Socket, is_under_way};
use rustix::net::connect;

use super::open::{SocketOptions, Target, Transport, open};
use crate::error::{NetError, NetErrorKind};

/// Length up to which a datagram is received: queries allow for 1,232 bytes, and no usual server sends more
/// than 4,096. A message on a stream may be longer.
const LONGEST_DATAGRAM: usize = 8 * 1024;

/// A socket connected to the server: it receives nothing from other senders.
pub struct Messages {
    socket: Socket,
    transport: Transport,
    /// Received on a stream and not yet returned.
    pending: Vec<u8>,
}

impl Messages {
    /// Starts to connect, from a port chosen by the system unless the options say otherwise.
    pub fn open(
        reactor: &Arc<Reactor>,
        server: SocketAddr,
        transport: Transport,
        options: &SocketOptions,
        local_hosts: &[SocketAddr],
        owner: u64,
    ) -> Result<Messages, NetError> {
        let mut socket = open(&Target::Ip(server), transport, options, local_hosts, None)?.socket;
        match connect(&socket, &server) {
            Ok(()) => {}
            Err(e) if is_under_way(e) => {}
            Err(e) => return Err(NetError::from_io(NetErrorKind::CouldntConnect, "", &e.into())),
        }
        socket.attach(reactor, owner);
        Ok(Messages { socket, transport, pending: Vec::new() })
    }

    /// Sends a message.
    pub async fn send(&mut self, message: &[u8]) -> io::Result<()> {
        if self.transport == Transport::Udp {
            return poll_fn(|cx| self.socket.poll_send(cx, message)).await.map(drop);
        }
        poll_fn(|cx| self.socket.poll_connected(cx)).await?;
        let length = u16::try_from(message.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        let framed = [&length.to_be_bytes()[..], message].concat();
        let mut sent = 0;
        while sent < framed.len() {
            sent += poll_fn(|cx| self.socket.poll_send(cx, &framed[sent..])).await?;
        }
        Ok(())
    }

    /// Receives the next message.
    pub async fn receive(&mut self) -> io::Result<Vec<u8>> {
        if self.transport == Transport::Udp {
            let mut buffer = vec![0; LONGEST_DATAGRAM];
            let length = poll_fn(|cx| self.socket.poll_recv(cx, &mut buffer)).await?;
            buffer.truncate(length);
            return Ok(buffer);
        }
        let mut buffer = vec![0; 1 << 16];
        poll_fn(|cx| {
            loop {
                if let Some((length, rest)) = self.pending.split_first_chunk::<2>() {
                    let length = usize::from(u16::from_be_bytes(*length));
                    if rest.len() >= length {
                        let message = rest[..length].to_vec();
                        self.pending.drain(..2 + length);
                        return Poll::Ready(Ok(message));
                    }
                }
                match ready!(self.socket.poll_recv(cx, &mut buffer)) {
                    Ok(0) => return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into())),
                    Ok(n) => self.pending.extend_from_slice(&buffer[..n]),
                    Err(e) => return Poll::Ready(Err(e)),
                }
            }
        })
        .await
    }
}
