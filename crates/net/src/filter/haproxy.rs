//! The PROXY line, version 1 (HAProxy's proxy-protocol.txt section 2.1): the first bytes of a connection,
//! with the address of the client. No filter stays after it.

use std::net::IpAddr;

use crate::connect::Endpoints;

/// Returns the line for a connection with these ends; `client` replaces both addresses (HAPROXY_CLIENT_IP):
/// they must be of one family.
pub fn line(endpoints: &Endpoints, client: Option<&str>) -> Vec<u8> {
    let (Some(local), Some(remote)) = (endpoints.local, endpoints.remote) else {
        return b"PROXY UNKNOWN\r\n".to_vec();
    };
    let (source, destination) = match client {
        Some(client) => (client.to_owned(), client.to_owned()),
        None => (local.ip().to_string(), remote.ip().to_string()),
    };
    let six = !source.parse().is_ok_and(|ip: IpAddr| ip.is_ipv4());
    let family = if six { "TCP6" } else { "TCP4" };
    format!("PROXY {family} {source} {destination} {} {}\r\n", local.port(), remote.port()).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(local: &str, remote: &str) -> Endpoints {
        Endpoints { local: Some(local.parse().unwrap()), remote: Some(remote.parse().unwrap()) }
    }

    #[test]
    fn lines() {
        let four = ends("10.0.0.1:1000", "10.0.0.2:80");
        assert_eq!(line(&four, None), b"PROXY TCP4 10.0.0.1 10.0.0.2 1000 80\r\n");
        assert_eq!(line(&four, Some("::2")), b"PROXY TCP6 ::2 ::2 1000 80\r\n");
        assert_eq!(line(&ends("[::1]:1", "[::1]:2"), None), b"PROXY TCP6 ::1 ::1 1 2\r\n");
        assert_eq!(line(&Endpoints::default(), None), b"PROXY UNKNOWN\r\n");
    }
}
