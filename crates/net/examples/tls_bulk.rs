//! CPU of kept GETs over TLS (or plain, without a CA file): tls_bulk PORT PATH COUNT [CA-FILE].

use std::future::poll_fn;
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use runtime::{Clock, Runtime, Socket};
use warmwire_net::Filter;
use warmwire_net::filter::SocketFilter;
use warmwire_net::tls::handshake::{self, Server};
use warmwire_net::tls::rustls::RustlsClient;
use warmwire_net::tls::{CaSource, SessionStore, TlsConfig};

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let (port, path, count): (u16, String, u64) =
        (args[1].parse().unwrap(), args[2].clone(), args[3].parse().unwrap());
    let ca = args.get(4).cloned();
    let runtime = Runtime::new(Clock::system());
    let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_nonblocking(true).unwrap();
    let mut socket = Socket::new(stream.into());
    socket.attach(runtime.reactor(), 0);
    let reactor = runtime.reactor().clone();
    runtime.spawn(Box::pin(async move {
        let mut filter: Box<dyn Filter> = Box::new(SocketFilter::new(socket));
        if let Some(ca) = ca {
            let config =
                Arc::new(TlsConfig { ca: vec![CaSource::File(ca.as_str().into())], ..TlsConfig::default() });
            let (server, store) = (Server::new(&config, "localhost", port), SessionStore::new());
            filter = handshake::connect::<RustlsClient>(filter, server, &store, &reactor).await.unwrap();
            let info = filter.tls().unwrap();
            println!("{} {}", info.version, info.cipher);
        }
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        let mut buf = vec![0; 256 * 1024];
        let (mut start, mut bytes, mut reads) = (0, 0, 0u64);
        for i in 0..=count {
            if i == 1 {
                (start, bytes, reads) = (cpu(), 0, 0);
            }
            filter.write_all(request.as_bytes()).await.unwrap();
            let n = poll_fn(|cx| filter.poll_read(cx, &mut buf)).await.unwrap();
            let head = buf[..n].windows(4).position(|w| w == b"\r\n\r\n").unwrap() + 4;
            let text = std::str::from_utf8(&buf[..head]).unwrap();
            let length: usize =
                text.lines().find_map(|l| l.strip_prefix("Content-Length: ")).unwrap().parse().unwrap();
            let mut have = n - head;
            while have < length {
                let n = poll_fn(|cx| filter.poll_read(cx, &mut buf)).await.unwrap();
                assert!(n > 0);
                reads += 1;
                have += n;
            }
            bytes += length as u64;
        }
        let ns = cpu() - start;
        println!(
            "{:.1} us CPU a request, {:.0} MB a CPU second, {} more reads each",
            ns as f64 / 1e3 / count as f64,
            bytes as f64 * 1e3 / ns as f64,
            reads / count
        );
        std::process::exit(0);
    }));
    loop {
        runtime.perform().unwrap();
        runtime.wait(&mut [], Duration::from_secs(1), true).unwrap();
    }
}

/// Nanoseconds of CPU that this thread has used.
fn cpu() -> u64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse().unwrap()
}
