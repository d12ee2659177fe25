//! The servers that a case asks for, one file each. A row of `ROWS` says how a server is reached and who
//! plays it; a new protocol is a new file and its rows.

pub mod case_context;
mod dialogue;
pub mod dict;
pub mod dns;
pub mod ftp;
pub mod http;
pub mod http2;
pub mod imap;
pub mod mqtt;
pub mod pop3;
pub mod smtp;
pub mod socks;
pub mod ssh;
pub mod telnet;
pub mod tftp;
pub mod tls;
pub mod tunnel;
pub mod wire;

use std::collections::BTreeMap;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::net::UnixListener;
use std::sync::Arc;

use crate::prepro::Variables;
use case_context::{Door, Hall};
use wire::Conn;

pub use case_context::CaseContext;

/// A server's behaviour on a connection. Returning closes it.
pub trait Peer: Send + Sync {
    fn serve(&self, conn: &mut Conn, stage: &CaseContext);

    /// One datagram, for servers that are reached over UDP.
    fn datagram(
        &self,
        _socket: &UdpSocket,
        _packet: &[u8],
        _from: std::net::SocketAddr,
        _stage: &CaseContext,
    ) {
    }
}

#[derive(PartialEq, Eq)]
enum Address {
    V4,
    /// UDP on IPv4.
    Udp,
    V6,
    Unix,
}

struct Row {
    /// The word in `<server>`.
    name: &'static str,
    address: Address,
    tls: bool,
    /// The variable for its port in cases.
    variable: &'static str,
    /// The server whose state it shares: TLS in front of the plain one, like stunnel.
    fronts: Option<&'static str>,
    play: fn() -> Arc<dyn Peer>,
}

const fn row(name: &'static str, variable: &'static str, play: fn() -> Arc<dyn Peer>) -> Row {
    Row { name, address: Address::V4, tls: false, variable, fronts: None, play }
}

const fn v6(name: &'static str, variable: &'static str, play: fn() -> Arc<dyn Peer>) -> Row {
    Row { name, address: Address::V6, tls: false, variable, fronts: None, play }
}

const fn secured(
    name: &'static str,
    variable: &'static str,
    fronts: &'static str,
    play: fn() -> Arc<dyn Peer>,
) -> Row {
    Row { name, address: Address::V4, tls: true, variable, fronts: Some(fronts), play }
}

const ROWS: &[Row] = &[
    row("http", "HTTPPORT", http::origin),
    v6("http-ipv6", "HTTP6PORT", http::origin),
    Row { address: Address::Unix, ..row("http-unix", "HTTPUNIXPATH", http::origin) },
    row("http-proxy", "PROXYPORT", http::proxy),
    secured("https", "HTTPSPORT", "http", http::origin),
    row("ftp", "FTPPORT", ftp::server),
    v6("ftp-ipv6", "FTP6PORT", ftp::server),
    secured("ftps", "FTPSPORT", "ftp", ftp::server),
    row("imap", "IMAPPORT", imap::server),
    v6("imap-ipv6", "IMAP6PORT", imap::server),
    secured("imaps", "IMAPSPORT", "imap", imap::server),
    row("pop3", "POP3PORT", pop3::server),
    v6("pop3-ipv6", "POP36PORT", pop3::server),
    secured("pop3s", "POP3SPORT", "pop3", pop3::server),
    row("smtp", "SMTPPORT", smtp::server),
    v6("smtp-ipv6", "SMTP6PORT", smtp::server),
    secured("smtps", "SMTPSPORT", "smtp", smtp::server),
    row("socks4", "SOCKSPORT", socks::server),
    row("socks5", "SOCKSPORT", socks::server),
    Row { address: Address::Unix, ..row("socks5unix", "SOCKSUNIXPATH", socks::server) },
    Row { address: Address::Udp, ..row("tftp", "TFTPPORT", tftp::server) },
    Row { address: Address::Udp, ..row("dns", "DNSPORT", dns::server) },
    row("mqtt", "MQTTPORT", mqtt::server),
    secured("mqtts", "MQTTSPORT", "mqtt", mqtt::server),
    row("sftp", "SSHPORT", ssh::server),
    row("scp", "SSHPORT", ssh::server),
    row("dict", "DICTPORT", dict::server),
    row("telnet", "TELNETPORT", telnet::server),
    secured("https-mtls", "HTTPS-MTLSPORT", "http", http::origin),
    row("gopher", "GOPHERPORT", http::gopher),
    v6("gopher-ipv6", "GOPHER6PORT", http::gopher),
    secured("gophers", "GOPHERSPORT", "gopher", http::gopher),
    secured("https-proxy", "HTTPSPROXYPORT", "http-proxy", http::proxy),
];

/// Every variable that names a port, so that those of servers that do not run have a value.
const PORTS: [&str; 41] = [
    "DICTPORT",
    "DNSPORT",
    "FTPPORT",
    "FTP6PORT",
    "FTPSPORT",
    "GOPHERPORT",
    "GOPHER6PORT",
    "GOPHERSPORT",
    "HTTPPORT",
    "HTTP6PORT",
    "HTTPSPORT",
    "HTTPS-MTLSPORT",
    "HTTPSPROXYPORT",
    "HTTPTLSPORT",
    "HTTPTLS6PORT",
    "HTTP2PORT",
    "HTTP2TLSPORT",
    "HTTP3PORT",
    "IMAPPORT",
    "IMAP6PORT",
    "IMAPSPORT",
    "MQTTPORT",
    "MQTTSPORT",
    "POP3PORT",
    "POP36PORT",
    "POP3SPORT",
    "RTSPPORT",
    "RTSP6PORT",
    "SMBPORT",
    "SMBSPORT",
    "SMTPPORT",
    "SMTP6PORT",
    "SMTPSPORT",
    "SOCKSPORT",
    "SSHPORT",
    "TELNETPORT",
    "TFTPPORT",
    "TFTP6PORT",
    "PROXYPORT",
    "HTTPUNIXPATH",
    "SOCKSUNIXPATH",
];

/// Returns whether the server can be played; `none` and `file` need none.
pub fn is_built(server: &str) -> bool {
    let name = server.split_whitespace().next().unwrap_or_default();
    match name {
        "none" | "file" => true,
        "sftp" | "scp" => ssh::is_there(),
        "http/2" => testkit::launch::Nghttpx::is_installed(),
        _ => ROWS.iter().any(|r| r.name == name),
    }
}

/// Opens the listeners of the servers and sets the variables of their ports.
pub fn open(servers: &[String], hall: &mut Hall, variables: &mut Variables) -> Result<(), String> {
    for name in PORTS {
        variables.set(name, "[not running]");
    }
    // port 47 is unassigned, and below the ports of ordinary users
    variables.set("NOLISTENPORT", "47");
    let mut cast = BTreeMap::new();
    for server in servers {
        let mut words = server.split_whitespace();
        let mut name = words.next().unwrap_or_default();
        let fronted = name == "http/2";
        if fronted {
            name = "http";
        }
        if let Some(row) = ROWS.iter().find(|r| r.name == name) {
            engage(row, words.next(), hall, variables, &mut cast)?;
        }
        if fronted {
            http2::engage(hall, variables)?;
        }
    }
    Ok(())
}

type Cast = BTreeMap<&'static str, Arc<dyn Peer>>;

fn engage(
    row: &'static Row,
    certificate: Option<&str>,
    hall: &mut Hall,
    variables: &mut Variables,
    cast: &mut Cast,
) -> Result<(), String> {
    if cast.contains_key(row.name) {
        return Ok(());
    }
    let peer = match row.fronts {
        Some(plain) => {
            let under = ROWS.iter().find(|r| r.name == plain).expect("the table names its own rows");
            engage(under, None, hall, variables, cast)?;
            cast[plain].clone()
        }
        None => (row.play)(),
    };
    let describe = |e: std::io::Error| format!("cannot listen for {}: {e}", row.name);
    let (door, place) = match row.address {
        Address::V4 | Address::V6 => {
            let host = if row.address == Address::V4 { "127.0.0.1:0" } else { "[::1]:0" };
            let listener = TcpListener::bind(host).map_err(describe)?;
            let port = listener.local_addr().map_err(describe)?.port();
            (Door::Tcp(listener), port.to_string())
        }
        Address::Udp => {
            let socket = UdpSocket::bind("127.0.0.1:0").map_err(describe)?;
            let port = socket.local_addr().map_err(describe)?.port();
            (Door::Udp(socket), port.to_string())
        }
        Address::Unix => {
            let path = hall.socket_path(row.name);
            (Door::Unix(UnixListener::bind(&path).map_err(describe)?), path.display().to_string())
        }
    };
    let tls = match row.tls {
        true => Some(tls::server(row.name, certificate)?),
        false => None,
    };
    variables.set(row.variable, place);
    cast.insert(row.name, peer.clone());
    hall.add(row.name, door, tls, peer).map_err(describe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_consistent() {
        for row in ROWS {
            assert!(PORTS.contains(&row.variable), "{}", row.variable);
            assert!(row.fronts.is_none_or(|f| ROWS.iter().any(|r| r.name == f && !r.tls)), "{}", row.name);
        }
        assert!(is_built("https test-localhost.pem") && is_built("none") && !is_built("quake"));
    }
}
