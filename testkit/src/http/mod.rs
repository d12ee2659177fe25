//! An embedded HTTP/1.1 server (RFC 9112), plain or over TLS, whose replies a test selects by path or by a
//! handler.

mod request;
mod response;
mod routes;
mod server;

pub use request::Request;
pub use response::{After, Framing, Response};
pub use routes::ranged;
pub use server::{Config, Handler, HttpServer};

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;

    use super::*;
    use crate::body::pattern;

    fn ask(stream: &mut TcpStream, request: &str, until: &[u8]) -> Vec<u8> {
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        let mut scratch = [0; 4096];
        while !answer.ends_with(until) {
            match stream.read(&mut scratch).unwrap() {
                0 => break,
                length => answer.extend_from_slice(&scratch[..length]),
            }
        }
        answer
    }

    #[test]
    fn a_kept_connection_serves_two_requests_and_is_counted_once() {
        let server = HttpServer::plain();
        let mut stream = TcpStream::connect(server.address()).unwrap();
        let first = ask(&mut stream, "GET /bytes/3000 HTTP/1.1\r\nHost: x\r\n\r\n", &pattern(3000));
        assert!(first.starts_with(b"HTTP/1.1 200 OK\r\n"));
        let second = ask(&mut stream, "POST /sum HTTP/1.1\r\nContent-Length: 6\r\n\r\nfoobar", b"\n");
        assert!(second.ends_with(b"6 85944171f73967e8\n"), "{}", String::from_utf8_lossy(&second));
        assert_eq!((server.accepts(), server.served()), (1, 2));
        assert_eq!(server.last_request().unwrap().reads, 1);
    }

    #[test]
    fn a_cut_answer_ends_after_the_asked_bytes() {
        let server = HttpServer::plain();
        let mut stream = TcpStream::connect(server.address()).unwrap();
        let answer = ask(&mut stream, "GET /cut/20/chunked/50/7 HTTP/1.1\r\n\r\n", b"never");
        assert_eq!(answer, b"HTTP/1.1 200 OK\r\nTra");
    }

    #[test]
    fn closing_connections_ends_the_idle_ones_only() {
        let server = HttpServer::plain();
        let mut stream = TcpStream::connect(server.address()).unwrap();
        ask(&mut stream, "GET /bytes/4 HTTP/1.1\r\n\r\n", &pattern(4));
        server.close_connections().unwrap();
        assert_eq!(stream.read(&mut [0; 16]).unwrap(), 0);
        let mut again = TcpStream::connect(server.address()).unwrap();
        assert!(ask(&mut again, "GET /bytes/4 HTTP/1.1\r\n\r\n", &pattern(4)).ends_with(&pattern(4)));
    }

    #[test]
    fn chunked_requests_are_decoded() {
        let server = HttpServer::plain();
        let mut stream = TcpStream::connect(server.address()).unwrap();
        let request =
            "PUT /body HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
        assert!(ask(&mut stream, request, b"abcde").ends_with(b"\r\n\r\nabcde"));
    }
}
