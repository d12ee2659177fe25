//! Limits the rate of a server's replies, over all its connections: a mirror with a fixed speed, however many
//! connections a client opens. Data to the server is not limited.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Size of one read from the server. At 20 MB/s it takes 3.3 ms.
const PIECE: usize = 64 << 10;
/// Idle time that can be made up by a burst.
const BURST: Duration = Duration::from_millis(20);

pub struct Throttle {
    address: SocketAddr,
    over: Arc<AtomicBool>,
}

/// When the next byte may come.
struct Pace {
    bytes_per_second: u64,
    next: Mutex<Instant>,
}

impl Throttle {
    pub fn start(server: SocketAddr, bytes_per_second: u64) -> io::Result<Throttle> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let over = Arc::new(AtomicBool::new(false));
        let pace = Arc::new(Pace { bytes_per_second, next: Mutex::new(Instant::now()) });
        let ended = over.clone();
        thread::Builder::new().name("throttle".into()).spawn(move || {
            for client in listener.incoming().flatten().take_while(|_| !ended.load(Ordering::SeqCst)) {
                // A client that cannot be served is disconnected.
                let _ = serve(client, server, &pace);
            }
        })?;
        Ok(Throttle { address, over })
    }

    /// Returns the address to connect to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Throttle {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        // Wakes the accepting thread.
        let _ = TcpStream::connect(self.address);
    }
}

impl Pace {
    /// Waits until so many bytes may go.
    fn wait(&self, bytes: usize) {
        let takes = Duration::from_secs_f64(bytes as f64 / self.bytes_per_second as f64);
        let until = {
            let mut next = self.next.lock().expect("never poisoned");
            let now = Instant::now();
            *next = (*next).max(now.checked_sub(BURST).unwrap_or(now)) + takes;
            *next
        };
        thread::sleep(until.saturating_duration_since(Instant::now()));
    }
}

/// Two threads for a connection, which end with it.
fn serve(client: TcpStream, server: SocketAddr, pace: &Arc<Pace>) -> io::Result<()> {
    let server = TcpStream::connect(server)?;
    let (mut from_client, mut to_server) = (client.try_clone()?, server.try_clone()?);
    thread::Builder::new().spawn(move || {
        let _ = io::copy(&mut from_client, &mut to_server);
        let _ = to_server.shutdown(Shutdown::Write);
    })?;
    let pace = pace.clone();
    thread::Builder::new().spawn(move || {
        let _ = paced(&server, &client, &pace);
        let _ = (server.shutdown(Shutdown::Both), client.shutdown(Shutdown::Both));
    })?;
    Ok(())
}

fn paced(mut server: &TcpStream, mut client: &TcpStream, pace: &Pace) -> io::Result<()> {
    let mut piece = vec![0; PIECE];
    loop {
        let got = server.read(&mut piece)?;
        if got == 0 {
            return Ok(());
        }
        pace.wait(got);
        client.write_all(&piece[..got])?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::{HttpServer, Response};

    /// Two connections together have the rate of one.
    #[test]
    fn the_rate_is_that_of_all() {
        let server = HttpServer::with(|_| Some(Response::ok(vec![b'x'; 400_000])));
        let address = server.url("/").trim_start_matches("http://").trim_end_matches('/').parse().unwrap();
        let throttle = Throttle::start(address, 1_000_000).unwrap();
        let began = Instant::now();
        let fetched = || {
            let mut stream = TcpStream::connect(throttle.address()).unwrap();
            stream.write_all(b"GET / HTTP/1.0\r\nConnection: close\r\n\r\n").unwrap();
            let mut all = Vec::new();
            stream.read_to_end(&mut all).unwrap();
            all.len()
        };
        let lengths = thread::scope(|scope| {
            let both = [scope.spawn(fetched), scope.spawn(fetched)];
            both.map(|one| one.join().unwrap())
        });
        assert!(lengths.iter().all(|length| *length > 400_000), "{lengths:?}");
        assert!(began.elapsed() > Duration::from_millis(700), "{:?}", began.elapsed());
    }
}
