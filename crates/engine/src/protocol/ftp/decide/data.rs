//! Data connections: EPSV and PASV, EPRT and PORT, PRET.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use tables::Code;
use wire::ftp::reply::{NoPort, Reply};

use crate::error::{Error, Result};

/// Returns the command that announces the next command to a distributed server (CURLOPT_FTP_USE_PRET).
pub fn pret(verb: &[u8], file: &[u8]) -> Vec<u8> {
    match file.is_empty() {
        true => [b"PRET ", verb].concat(),
        false => [b"PRET ", verb, b" ", file].concat(),
    }
}

/// Fails if the server does not accept PRET.
pub fn check_pret(code: u16) -> Result<()> {
    match code {
        200 => Ok(()),
        _ => Err(Error::new(Code::FtpPretFailed, format!("PRET command not accepted: {code:03}"))),
    }
}

/// Returns whether EPSV is sent rather than PASV, which knows no IPv6. `refused` says that the server did not
/// know it.
pub fn uses_epsv(enabled: bool, v6: bool, refused: bool) -> bool {
    (enabled || v6) && !refused
}

/// Returns the port in a reply to EPSV; `None` if PASV is tried next, which does not support IPv6.
pub fn extended(reply: &Reply, v6: bool) -> Result<Option<u16>> {
    let weird = |text| Err(Error::new(Code::FtpWeirdPasvReply, text));
    match reply.code {
        229 => match reply.extended_passive() {
            Some(Ok(port)) => Ok(Some(port)),
            Some(Err(NoPort)) => weird("Illegal port number in EPSV reply"),
            None => weird("Weirdly formatted EPSV reply"),
        },
        _ if v6 => Err(Error::new(Code::WeirdServerReply, "Failed EPSV attempt, exiting")),
        _ => Ok(None),
    }
}

/// Returns the address and port in a reply to PASV.
pub fn passive(reply: &Reply) -> Result<(Ipv4Addr, u16)> {
    if reply.code != 227 {
        let text = format!("Bad PASV/EPSV response: {:03}", reply.code);
        return Err(Error::new(Code::FtpWeirdPasvReply, text));
    }
    let bad = || Error::new(Code::FtpWeird227Format, "Could not interpret the 227-response");
    let (ip, port) = reply.passive().ok_or_else(bad)?;
    Ok((Ipv4Addr::from(ip), port))
}

/// Returns the host for a data connection to the control connection's server: the name through a proxy,
/// otherwise the address.
pub fn control_host(has_proxy: bool, remote: Option<SocketAddr>, host: &str) -> String {
    match remote {
        Some(address) if !has_proxy => address.ip().to_string(),
        _ => host.to_owned(),
    }
}

/// Returns whether EPRT is sent before PORT, which knows no IPv6.
pub fn uses_eprt(address: IpAddr, enabled: bool, refused: bool) -> bool {
    address.is_ipv6() || (enabled && !refused)
}

/// Returns the EPRT command (RFC 2428 §2).
pub fn eprt(address: IpAddr, port: u16) -> String {
    let family = if address.is_ipv4() { 1 } else { 2 };
    format!("EPRT |{family}|{address}|{port}|")
}

/// Returns the PORT command; `None` for IPv6 addresses.
pub fn port(address: IpAddr, port: u16) -> Option<String> {
    let IpAddr::V4(v4) = address else { return None };
    let [a, b, c, d] = v4.octets();
    Some(format!("PORT {a},{b},{c},{d},{},{}", port >> 8, port & 255))
}

/// Returns whether the server will connect after it has replied in the meantime: it is done already, or about
/// to begin.
pub fn will_connect(code: u16) -> bool {
    code < 400
}

#[cfg(test)]
mod tests {
    use super::super::reply;
    use super::*;

    #[test]
    fn pret_names_the_command_to_come() {
        assert_eq!(pret(b"RETR", b"f"), b"PRET RETR f", "CURLOPT_FTP_USE_PRET(3): a file");
        assert_eq!(pret(b"NLST", b""), b"PRET NLST", "CURLOPT_FTP_USE_PRET(3): a listing");
        let rows = [
            ("CURLOPT_FTP_USE_PRET(3): accepted", 200, None),
            ("CURLOPT_FTP_USE_PRET(3): another success", 250, Some(Code::FtpPretFailed)),
            ("CURLOPT_FTP_USE_PRET(3): refused", 550, Some(Code::FtpPretFailed)),
        ];
        for (name, code, wanted) in rows {
            assert_eq!(check_pret(code).err().map(|e| e.code()), wanted, "{name}");
        }
    }

    #[test]
    fn epsv_goes_before_pasv_until_refused() {
        let rows = [
            ("RFC 2428 §3: EPSV", true, false, false, true),
            ("CURLOPT_FTP_USE_EPSV(3): off", false, false, false, false),
            ("CURLOPT_FTP_USE_EPSV(3): IPv6 has nothing else", false, true, false, true),
            ("RFC 2428 §3: refused on this connection", true, false, true, false),
        ];
        for (name, enabled, v6, refused, wanted) in rows {
            assert_eq!(uses_epsv(enabled, v6, refused), wanted, "{name}");
        }
    }

    #[test]
    fn a_refused_epsv_falls_back_on_ipv4_alone() {
        let weird = Err(Code::FtpWeirdPasvReply);
        let rows = [
            ("RFC 2428 §3: 229", "229 Entering (|||6446|)", false, Ok(Some(6446))),
            ("RFC 2428 §3: with another bar", "229 (!!!1!)", false, Ok(Some(1))),
            ("RFC 2428 §3: 229 on IPv6", "229 (|||6446|)", true, Ok(Some(6446))),
            ("RFC 2428 §3: no port", "229 (|||)", false, weird),
            ("RFC 2428 §3: a number that no port has", "229 (|||65536|)", false, weird),
            ("RFC 2428 §3: not known, IPv4", "500 EPSV?", false, Ok(None)),
            ("RFC 2428 §3: not known, IPv6", "500 EPSV?", true, Err(Code::WeirdServerReply)),
            ("RFC 2428 §3: 522, IPv4", "522 (1)", false, Ok(None)),
        ];
        for (name, line, v6, wanted) in rows {
            assert_eq!(extended(&reply(line), v6).map_err(|e| e.code()), wanted, "{name}");
        }
    }

    #[test]
    fn replies_to_pasv() {
        let at = |ip: [u8; 4], port| Ok((Ipv4Addr::from(ip), port));
        let rows = [
            ("RFC 959 §4.1.2: 227", "227 Entering (10,0,0,1,4,1)", at([10, 0, 0, 1], 1025)),
            ("RFC 1123 §4.1.2.6: without parentheses", "227 =10,0,0,1,0,21", at([10, 0, 0, 1], 21)),
            ("RFC 959 §4.1.2: five numbers", "227 (10,0,0,1,4)", Err(Code::FtpWeird227Format)),
            ("RFC 959 §5.4: 502", "502 PASV?", Err(Code::FtpWeirdPasvReply)),
            ("RFC 959 §5.4: another success", "200 (10,0,0,1,4,1)", Err(Code::FtpWeirdPasvReply)),
        ];
        for (name, line, wanted) in rows {
            assert_eq!(passive(&reply(line)).map_err(|e| e.code()), wanted, "{name}");
        }
    }

    #[test]
    fn data_connections_follow_the_control_connection() {
        let there = Some("[::1]:21".parse().unwrap());
        let rows = [
            ("RFC 2428 §3: the address of the control connection", false, there, "::1"),
            ("CURLOPT_PROXY(3): a proxy receives the name", true, there, "host"),
            ("RFC 2428 §3: an address that is not known", false, None, "host"),
        ];
        for (name, has_proxy, remote, wanted) in rows {
            assert_eq!(control_host(has_proxy, remote, "host"), wanted, "{name}");
        }
    }

    #[test]
    fn active_mode_names_our_address() {
        let [v4, v6]: [IpAddr; 2] = ["192.0.2.1", "2001:db8::1"].map(|text| text.parse().unwrap());
        let rows = [
            ("RFC 2428 §2: EPRT", v4, true, false, true),
            ("CURLOPT_FTP_USE_EPRT(3): off", v4, false, false, false),
            ("RFC 2428 §2: refused", v4, true, true, false),
            ("CURLOPT_FTP_USE_EPRT(3): IPv6 has nothing else", v6, false, true, true),
        ];
        for (name, address, enabled, refused, wanted) in rows {
            assert_eq!(uses_eprt(address, enabled, refused), wanted, "{name}");
        }
        assert_eq!(eprt(v4, 6446), "EPRT |1|192.0.2.1|6446|", "RFC 2428 §2: IPv4");
        assert_eq!(eprt(v6, 6446), "EPRT |2|2001:db8::1|6446|", "RFC 2428 §2: IPv6");
        assert_eq!(port(v4, 1025).as_deref(), Some("PORT 192,0,2,1,4,1"), "RFC 959 §4.1.2");
        assert_eq!(port(v6, 1025), None, "RFC 959 §4.1.2: IPv6");
    }

    #[test]
    fn a_server_that_refuses_does_not_connect() {
        let rows = [
            ("RFC 959 §5.4: 150, about to connect", 150, true),
            ("RFC 959 §5.4: 226, done before we looked", 226, true),
            ("RFC 959 §5.4: 425, cannot connect", 425, false),
            ("RFC 959 §5.4: 550", 550, false),
        ];
        for (name, code, wanted) in rows {
            assert_eq!(will_connect(code), wanted, "{name}");
        }
    }
}
