//! A tapped wire: forwards a client's data to a server, and records it.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use crate::stop::{Stop, Woken};

/// The wire; it accepts no more connections when it is dropped.
pub struct Tap {
    address: SocketAddr,
    heard: Arc<Mutex<Vec<u8>>>,
    _stop: Stop,
}

impl Tap {
    /// Creates a tap before a server.
    pub fn to(server: SocketAddr) -> io::Result<Tap> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let (address, stop, heard) = (listener.local_addr()?, Stop::new()?, Arc::default());
        let (signal, all) = (stop.signal(), Arc::clone(&heard));
        thread::spawn(move || {
            while signal.wait(&listener, None) == Woken::Readable {
                if let Ok((client, _)) = listener.accept() {
                    let all = Arc::clone(&all);
                    thread::spawn(move || pass(client, server, &all));
                }
            }
        });
        Ok(Tap { address, heard, _stop: stop })
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Returns all client data since the last call.
    pub fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.heard.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn pass(mut client: TcpStream, server: SocketAddr, heard: &Mutex<Vec<u8>>) -> io::Result<()> {
    let mut server = TcpStream::connect(server)?;
    let (mut back, mut to) = (server.try_clone()?, client.try_clone()?);
    let replies = thread::spawn(move || {
        let _ = io::copy(&mut back, &mut to);
        let _ = to.shutdown(Shutdown::Write);
    });
    let mut buffer = [0; 4096];
    while let Ok(length @ 1..) = client.read(&mut buffer) {
        heard.lock().unwrap_or_else(PoisonError::into_inner).extend(&buffer[..length]);
        server.write_all(&buffer[..length])?;
    }
    let _ = server.shutdown(Shutdown::Write);
    let _ = replies.join();
    Ok(())
}
