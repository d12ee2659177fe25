//! A relay that cuts: what a server says passes for so many bytes, then both sides see the end.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;

use crate::stop::{Signal, Stop, Woken};

/// A relay in front of a server.
pub struct Cutter {
    address: SocketAddr,
    stop: Stop,
}

impl Cutter {
    /// Lets `length` bytes of the server's pass on each connection.
    pub fn start(target: SocketAddr, length: usize) -> Cutter {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound socket has an address");
        let stop = Stop::new().expect("a process may open a pipe");
        let signal = stop.signal();
        thread::spawn(move || {
            while signal.wait(&listener, None) == Woken::Readable {
                let Ok((client, _)) = listener.accept() else { continue };
                let Ok(server) = TcpStream::connect(target) else { continue };
                relay(&client, &server, length, &signal);
            }
        });
        Cutter { address, stop }
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }
}

impl Drop for Cutter {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

fn relay(client: &TcpStream, server: &TcpStream, length: usize, signal: &Signal) {
    let (Ok(mut from_client), Ok(mut to_server)) = (client.try_clone(), server.try_clone()) else { return };
    let (Ok(client), Ok(mut server), signal) = (client.try_clone(), server.try_clone(), signal.clone())
    else {
        return;
    };
    thread::spawn(move || {
        let _ = std::io::copy(&mut from_client, &mut to_server);
        let _ = to_server.shutdown(Shutdown::Both);
    });
    thread::spawn(move || {
        let (mut left, mut buffer) = (length, [0; 4096]);
        while left > 0 && signal.wait(&server, None) == Woken::Readable {
            let most = left.min(buffer.len());
            match server.read(&mut buffer[..most]) {
                Ok(n) if n > 0 && (&client).write_all(&buffer[..n]).is_ok() => left -= n,
                _ => break,
            }
        }
        let _ = (client.shutdown(Shutdown::Both), server.shutdown(Shutdown::Both));
    });
}
