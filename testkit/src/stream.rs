//! A server's end of one connection: TCP, or TLS over it.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustix::fd::AsFd;
use rustls::{HandshakeKind, ServerConfig, ServerConnection, StreamOwned};

/// Time after which a peer that stalls in the middle of a message is dropped.
const STALL_LIMIT: Duration = Duration::from_secs(120);

/// Limits the bytes in transit from this socket, as far as the system permits.
pub fn narrow(socket: impl AsFd, bytes: usize) {
    let _ = rustix::net::sockopt::set_socket_send_buffer_size(socket, bytes);
}

pub enum Stream {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ServerConnection, TcpStream>>),
}

impl Stream {
    /// Takes an accepted socket; with `tls` the handshake happens here, so that its failure is seen once.
    pub fn accept(socket: TcpStream, tls: Option<&Arc<ServerConfig>>) -> io::Result<Stream> {
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(STALL_LIMIT))?;
        let Some(config) = tls else { return Ok(Stream::Plain(socket)) };
        let session = ServerConnection::new(config.clone()).map_err(io::Error::other)?;
        let mut stream = StreamOwned::new(session, socket);
        while stream.conn.is_handshaking() {
            stream.conn.complete_io(&mut stream.sock)?;
        }
        Ok(Stream::Tls(Box::new(stream)))
    }

    /// Whether the handshake resumed a TLS session.
    pub fn is_resumed(&self) -> bool {
        match self {
            Stream::Plain(_) => false,
            Stream::Tls(stream) => stream.conn.handshake_kind() == Some(HandshakeKind::Resumed),
        }
    }

    pub fn socket(&self) -> &TcpStream {
        match self {
            Stream::Plain(socket) => socket,
            Stream::Tls(stream) => &stream.sock,
        }
    }

    /// Whether a read would find bytes that were already taken off the socket.
    pub fn has_decrypted(&mut self) -> bool {
        match self {
            Stream::Plain(_) => false,
            Stream::Tls(stream) => {
                stream.conn.process_new_packets().is_ok_and(|state| state.plaintext_bytes_to_read() > 0)
            }
        }
    }

    /// A polite end: close_notify where there is TLS, then FIN.
    pub fn finish(mut self) {
        if let Stream::Tls(stream) = &mut self {
            stream.conn.send_close_notify();
            let _ = stream.conn.complete_io(&mut stream.sock);
        }
        let _ = self.socket().shutdown(Shutdown::Write);
        self.linger();
    }

    /// Closes without close_notify, like truncation by an attacker.
    pub fn cut(self) {
        let _ = self.socket().shutdown(Shutdown::Write);
        self.linger();
    }

    /// An end by RST.
    pub fn reset(self) {
        let _ = rustix::net::sockopt::set_socket_linger(self.socket(), Some(Duration::ZERO));
    }

    /// Reads the peer's remaining data for a moment: closing with unread bytes would turn the FIN into RST.
    fn linger(self) {
        let mut socket = self.socket();
        let _ = socket.set_read_timeout(Some(Duration::from_millis(200)));
        let mut scratch = [0; 4096];
        for _ in 0..256 {
            if !matches!(socket.read(&mut scratch), Ok(length) if length > 0) {
                break;
            }
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(socket) => socket.read(buffer),
            Stream::Tls(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(socket) => socket.write(bytes),
            Stream::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Stream::Plain(socket) => socket.flush(),
            Stream::Tls(stream) => stream.flush(),
        }
    }
}
