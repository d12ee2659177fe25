//! SOCKS 4, 4a and 5 messages of a client (RFC 1928, RFC 1929, and OpenSSH's text on version 4).
//!
//! Requests are built whole. Replies have a fixed length or announce it, and are checked here. GSS-API
//! messages are in `socks_gssapi`.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};

use tables::ProxyCode;

/// A length of these protocols is one byte.
const LONGEST: usize = 255;

/// The destination that the proxy connects to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination<'a> {
    Ip(IpAddr),
    /// Looked up by the proxy.
    Name(&'a str),
}

/// How version 5's client may log in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AuthMethods {
    /// With a ticket (RFC 1961).
    pub gssapi: bool,
    /// With name and password (RFC 1929).
    pub password: bool,
    /// Whether there is a user name. Without one, a password is not offered, but sent if the server requests
    /// it.
    pub named: bool,
}

/// The method chosen by a version 5 server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    None,
    Gssapi,
    Password,
}

/// Why it did not work: CURLINFO_PROXY_ERROR's number and the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SocksError {
    pub code: ProxyCode,
    pub text: String,
}

impl fmt::Display for SocksError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Version 4's request; a name makes it 4a's.
pub fn connect4(destination: Destination<'_>, port: u16, user: &[u8]) -> Result<Vec<u8>, SocksError> {
    let (address, name) = match destination {
        Destination::Ip(IpAddr::V4(ip)) => (ip, None),
        Destination::Ip(IpAddr::V6(ip)) => {
            return Err(error(ProxyCode::ResolveHost, format!("SOCKS4 connection to {ip} not supported")));
        }
        Destination::Name(name) => (Ipv4Addr::new(0, 0, 0, 1), Some(name)),
    };
    if user.len() > LONGEST || user.contains(&0) {
        return Err(error(ProxyCode::LongUser, "Too long SOCKS proxy username"));
    }
    let mut request = vec![4, 1];
    request.extend(port.to_be_bytes());
    request.extend(address.octets());
    request.extend(user);
    request.push(0);
    if let Some(name) = name {
        if name.len() >= LONGEST || name.contains('\0') {
            return Err(error(ProxyCode::LongHostname, "SOCKS4: too long hostname"));
        }
        request.extend(name.as_bytes());
        request.push(0);
    }
    Ok(request)
}

/// Judges version 4's reply.
pub fn reply4(reply: &[u8; 8]) -> Result<(), SocksError> {
    let [version, status, high, low, ip @ ..] = *reply;
    if version != 0 {
        return Err(error(ProxyCode::BadVersion, "SOCKS4 reply has wrong version, version should be 0."));
    }
    let (code, why) = match status {
        90 => return Ok(()),
        91 => (ProxyCode::RequestFailed, "request rejected or failed."),
        92 => (
            ProxyCode::Identd,
            "request rejected because SOCKS server cannot connect to identd on the client.",
        ),
        93 => (
            ProxyCode::IdentdDiffer,
            "request rejected because the client program and identd report different user-ids.",
        ),
        _ => (ProxyCode::UnknownFail, "Unknown."),
    };
    let (ip, port) = (Ipv4Addr::from(ip), u16::from_be_bytes([high, low]));
    Err(error(code, format!("[SOCKS] cannot complete SOCKS4 connection to {ip}:{port}. ({status}), {why}")))
}

/// Returns version 5's first message: the offered methods.
pub fn greeting5(ways: AuthMethods) -> Vec<u8> {
    let methods = [(0, true), (1, ways.gssapi), (2, ways.password && ways.named)];
    let offered: Vec<u8> =
        methods.iter().filter(|(_, offered)| *offered).map(|(method, _)| *method).collect();
    [&[5, offered.len() as u8], &offered[..]].concat()
}

/// Parses the method chosen by a version 5 server.
pub fn choice5(reply: [u8; 2], ways: AuthMethods) -> Result<Method, SocksError> {
    match reply {
        [5, 0] => Ok(Method::None),
        [5, 1] if ways.gssapi => Ok(Method::Gssapi),
        [5, 1] => {
            Err(error(ProxyCode::GssapiPermsg, "SOCKS5 GSSAPI per-message authentication is not enabled."))
        }
        [5, 2] if ways.password => Ok(Method::Password),
        [5, 2] => Err(error(ProxyCode::NoAuth, "BASIC authentication proposed but not enabled.")),
        [5, 255] => Err(error(ProxyCode::NoAuth, "No authentication method was acceptable.")),
        [5, _] => Err(error(ProxyCode::UnknownMode, "Unknown SOCKS5 mode attempted to be used by server.")),
        _ => Err(error(ProxyCode::BadVersion, "Received invalid version in initial SOCKS5 response.")),
    }
}

/// The name and password of RFC 1929.
pub fn login5(user: &[u8], password: &[u8]) -> Result<Vec<u8>, SocksError> {
    if user.len() > LONGEST {
        return Err(error(ProxyCode::LongUser, "Excessive username length for SOCKS5 auth"));
    }
    if password.len() > LONGEST {
        return Err(error(ProxyCode::LongPasswd, "Excessive password length for SOCKS5 auth"));
    }
    let mut message = vec![1, user.len() as u8];
    message.extend(user);
    message.push(password.len() as u8);
    message.extend(password);
    Ok(message)
}

/// Whether the login was accepted; the version byte is ignored, servers differ.
pub fn login_reply5(reply: [u8; 2]) -> Result<(), SocksError> {
    let [version, status] = reply;
    let text = || format!("User was rejected by the SOCKS5 server ({version} {status}).");
    if status == 0 { Ok(()) } else { Err(error(ProxyCode::UserRejected, text())) }
}

/// Version 5's request.
pub fn connect5(destination: Destination<'_>, port: u16) -> Result<Vec<u8>, SocksError> {
    let mut request = vec![5, 1, 0];
    match destination {
        Destination::Ip(IpAddr::V4(ip)) => {
            request.push(1);
            request.extend(ip.octets());
        }
        Destination::Ip(IpAddr::V6(ip)) => {
            request.push(4);
            request.extend(ip.octets());
        }
        Destination::Name(name) if name.len() > LONGEST => {
            let text = "SOCKS5: the destination hostname is too long to be resolved remotely by the proxy.";
            return Err(error(ProxyCode::LongHostname, text));
        }
        Destination::Name(name) => {
            request.extend([3, name.len() as u8]);
            request.extend(name.as_bytes());
        }
    }
    request.extend(port.to_be_bytes());
    Ok(request)
}

/// Judges the first five bytes of version 5's reply; how many bytes of it follow.
pub fn reply5(head: &[u8; 5], host: &str, port: u16) -> Result<usize, SocksError> {
    let [version, status, _, kind, first] = *head;
    if version != 5 {
        return Err(error(ProxyCode::BadVersion, "SOCKS5 reply has wrong version, version should be 5."));
    }
    if status != 0 {
        let text = format!("cannot complete SOCKS5 connection to {host}:{port} ({status})");
        return Err(error(refusal(status), text));
    }
    match kind {
        1 => Ok(4 - 1 + 2),
        3 => Ok(usize::from(first) + 2),
        4 => Ok(16 - 1 + 2),
        _ => Err(error(ProxyCode::BadAddressType, "SOCKS5 reply has wrong address type.")),
    }
}

/// RFC 1928 section 6.
fn refusal(status: u8) -> ProxyCode {
    match status {
        1 => ProxyCode::ReplyGeneralServerFailure,
        2 => ProxyCode::ReplyNotAllowed,
        3 => ProxyCode::ReplyNetworkUnreachable,
        4 => ProxyCode::ReplyHostUnreachable,
        5 => ProxyCode::ReplyConnectionRefused,
        6 => ProxyCode::ReplyTtlExpired,
        7 => ProxyCode::ReplyCommandNotSupported,
        8 => ProxyCode::ReplyAddressTypeNotSupported,
        _ => ProxyCode::ReplyUnassigned,
    }
}

fn error(code: ProxyCode, text: impl Into<String>) -> SocksError {
    SocksError { code, text: text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const V4: Destination<'_> = Destination::Ip(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)));

    #[test]
    fn version_4_and_4a_requests() {
        assert_eq!(connect4(V4, 0x1234, b"me").unwrap(), b"\x04\x01\x12\x34\x0a\0\0\x01me\0");
        let name = connect4(Destination::Name("a.b"), 80, b"").unwrap();
        assert_eq!(name, b"\x04\x01\0\x50\0\0\0\x01\0a.b\0");
        assert_eq!(connect4(V4, 1, &[b'x'; 256]).unwrap_err().code, ProxyCode::LongUser);
        let long = "x".repeat(255);
        assert_eq!(connect4(Destination::Name(&long), 1, b"").unwrap_err().code, ProxyCode::LongHostname);
        let six = Destination::Ip("::1".parse().unwrap());
        assert_eq!(connect4(six, 1, b"").unwrap_err().code, ProxyCode::ResolveHost);
    }

    #[test]
    fn version_4_replies() {
        assert_eq!(reply4(&[0, 90, 0, 0, 0, 0, 0, 0]), Ok(()));
        assert_eq!(reply4(&[4, 90, 0, 0, 0, 0, 0, 0]).unwrap_err().code, ProxyCode::BadVersion);
        let refused = reply4(&[0, 91, 0, 80, 1, 2, 3, 4]).unwrap_err();
        assert_eq!(refused.code, ProxyCode::RequestFailed);
        assert!(refused.text.contains("1.2.3.4:80. (91)"));
        let codes = [92, 93, 7].map(|status| reply4(&[0, status, 0, 0, 0, 0, 0, 0]).unwrap_err().code);
        assert_eq!(codes, [ProxyCode::Identd, ProxyCode::IdentdDiffer, ProxyCode::UnknownFail]);
    }

    #[test]
    fn version_5_messages() {
        assert_eq!(connect5(V4, 80).unwrap(), b"\x05\x01\0\x01\x0a\0\0\x01\0\x50");
        assert_eq!(connect5(Destination::Name("ab"), 80).unwrap(), b"\x05\x01\0\x03\x02ab\0\x50");
        assert_eq!(connect5(Destination::Ip("::1".parse().unwrap()), 1).unwrap().len(), 22);
        let long = "x".repeat(256);
        assert_eq!(connect5(Destination::Name(&long), 1).unwrap_err().code, ProxyCode::LongHostname);
        assert_eq!(login5(b"u", b"pw").unwrap(), b"\x01\x01u\x02pw");
        assert_eq!(login5(&[0; 256], b"").unwrap_err().code, ProxyCode::LongUser);
        assert_eq!(login5(b"", &[0; 256]).unwrap_err().code, ProxyCode::LongPasswd);
    }

    #[test]
    fn version_5_choices() {
        let none = AuthMethods::default();
        let all = AuthMethods { gssapi: true, password: true, named: true };
        assert_eq!(greeting5(none), [5, 1, 0]);
        assert_eq!(greeting5(all), [5, 3, 0, 1, 2]);
        assert_eq!(greeting5(AuthMethods { named: false, ..all }), [5, 2, 0, 1]);
        assert_eq!(greeting5(AuthMethods { password: true, named: true, ..none }), [5, 2, 0, 2]);
        let methods =
            [0, 1, 2].map(|method| choice5([5, method], AuthMethods { named: false, ..all }).unwrap());
        assert_eq!(methods, [Method::None, Method::Gssapi, Method::Password]);
        let codes =
            [[5, 2], [5, 1], [5, 255], [5, 3], [4, 0]].map(|reply| choice5(reply, none).unwrap_err().code);
        let expected = [
            ProxyCode::NoAuth,
            ProxyCode::GssapiPermsg,
            ProxyCode::NoAuth,
            ProxyCode::UnknownMode,
            ProxyCode::BadVersion,
        ];
        assert_eq!(codes, expected);
        assert_eq!(login_reply5([9, 0]), Ok(()));
        assert_eq!(login_reply5([1, 1]).unwrap_err().code, ProxyCode::UserRejected);
    }

    #[test]
    fn version_5_replies_say_their_length() {
        let rest = |kind, first| reply5(&[5, 0, 0, kind, first], "h", 1);
        assert_eq!((rest(1, 9), rest(3, 7), rest(4, 9)), (Ok(5), Ok(9), Ok(17)));
        assert_eq!(rest(2, 0).unwrap_err().code, ProxyCode::BadAddressType);
        assert_eq!(reply5(&[5, 5, 0, 1, 0], "h", 1).unwrap_err().code, ProxyCode::ReplyConnectionRefused);
        assert_eq!(reply5(&[5, 77, 0, 1, 0], "h", 1).unwrap_err().code, ProxyCode::ReplyUnassigned);
        assert_eq!(reply5(&[4, 0, 0, 1, 0], "h", 1).unwrap_err().code, ProxyCode::BadVersion);
    }
}
