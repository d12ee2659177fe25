//! Texts of TLS failures. They follow OpenSSL's error strings, which applications and their users search for:
//! `error:0A000410:SSL routines::ssl/tls alert handshake failure`.

use super::ech;
use super::record::RecordError;
use crate::{NetError, NetErrorKind};
use rustls::{AlertDescription, Error, InvalidMessage, PeerIncompatible};
use std::io;

pub const CLOSE_NOTIFY: u8 = 0;
pub const UNEXPECTED_MESSAGE: u8 = 10;
pub const BAD_RECORD_MAC: u8 = 20;
pub const RECORD_OVERFLOW: u8 = 22;
pub const DECODE_ERROR: u8 = 50;
pub const INTERNAL_ERROR: u8 = 80;
pub const USER_CANCELED: u8 = 90;
pub const NO_RENEGOTIATION: u8 = 100;
const CERTIFICATE_REQUIRED: u8 = 116;

/// A handshake that failed for a reason other than the certificate.
pub fn connect_error(error: &Error) -> NetError {
    let kind = match error {
        Error::AlertReceived(a) if u8::from(*a) == CERTIFICATE_REQUIRED => NetErrorKind::SslClientcert,
        Error::AlertReceived(AlertDescription::ProtocolVersion) => NetErrorKind::SslVersion,
        Error::NoCertificatesPresented => {
            return NetError::new(
                NetErrorKind::PeerFailedVerification,
                "SSL: could not get peer certificate",
            );
        }
        Error::PeerIncompatible(PeerIncompatible::ServerRejectedEncryptedClientHello(configs)) => {
            let text = "ECH required: error:0A0001A8:SSL routines::ech required";
            let list = configs.as_deref().map(ech::encoded).unwrap_or_default();
            return NetError {
                retry_configs: Some(list.into()),
                ..NetError::new(NetErrorKind::EchRequired, text)
            };
        }
        _ => NetErrorKind::SslConnectError,
    };
    NetError::new(kind, format!("TLS connect error: {}", rustls_text(error)))
}

/// The versions that are wanted leave none.
pub fn no_protocols() -> NetError {
    let text = "TLS connect error: error:0A0000BF:SSL routines::no protocols available";
    NetError::new(NetErrorKind::SslConnectError, text)
}

/// A handshake whose connection failed underneath it.
pub fn connect_io_error(error: &io::Error, host: &str, port: u16) -> NetError {
    if error.kind() == io::ErrorKind::UnexpectedEof {
        return NetError::new(NetErrorKind::SslConnectError, format!("TLS connect error: {}", eof_text()));
    }
    let reason = strip_os_error(error);
    let text = format!("OpenSSL SSL_connect: {reason} in connection to {host}:{port} ");
    NetError::from_io(NetErrorKind::SslConnectError, text, error)
}

/// The connection ended without close_notify: what was read may be only a part.
pub fn unexpected_eof() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, format!("OpenSSL SSL_read: {}, errno 0", eof_text()))
}

/// The peer ended the connection with an alert.
pub fn received(alert: u8) -> io::Error {
    let text = format!("OpenSSL SSL_read: {}, errno 0", alert_text(alert));
    io::Error::new(io::ErrorKind::ConnectionAborted, text)
}

/// Returns the error for a message that violates the protocol.
pub fn violation(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("OpenSSL SSL_read: {reason}, errno 0"))
}

/// The alert to send for a record that can't be used, and its text.
pub fn of_record(error: RecordError) -> (u8, &'static str) {
    match error {
        RecordError::BadMac => {
            (BAD_RECORD_MAC, "error:0A000119:SSL routines::decryption failed or bad record mac")
        }
        RecordError::TooLong => (RECORD_OVERFLOW, "error:0A0000C6:SSL routines::packet length too long"),
        RecordError::BadHeader => (UNEXPECTED_MESSAGE, "error:0A00010B:SSL routines::wrong version number"),
        RecordError::NoType => (UNEXPECTED_MESSAGE, "error:0A000123:SSL routines::bad record type"),
        RecordError::Exhausted => (INTERNAL_ERROR, "error:0A000127:SSL routines::too many records"),
    }
}

/// Whether the text of a connection's error names the call of the TLS library that failed.
pub fn names_call(text: &str) -> bool {
    text.starts_with("OpenSSL ")
}

/// `error:0A000…:SSL routines::…` for an alert that was received: OpenSSL numbers them 1000 + alert.
pub fn alert_text(alert: u8) -> String {
    let reason = match alert {
        10 => "ssl/tls alert unexpected message",
        20 => "ssl/tls alert bad record mac",
        21 => "tlsv1 alert decryption failed",
        22 => "tlsv1 alert record overflow",
        30 => "ssl/tls alert decompression failure",
        40 => "ssl/tls alert handshake failure",
        41 => "ssl/tls alert no certificate",
        42 => "ssl/tls alert bad certificate",
        43 => "ssl/tls alert unsupported certificate",
        44 => "ssl/tls alert certificate revoked",
        45 => "ssl/tls alert certificate expired",
        46 => "ssl/tls alert certificate unknown",
        47 => "ssl/tls alert illegal parameter",
        48 => "tlsv1 alert unknown ca",
        49 => "tlsv1 alert access denied",
        50 => "tlsv1 alert decode error",
        51 => "tlsv1 alert decrypt error",
        70 => "tlsv1 alert protocol version",
        71 => "tlsv1 alert insufficient security",
        80 => "tlsv1 alert internal error",
        86 => "tlsv1 alert inappropriate fallback",
        90 => "tlsv1 alert user cancelled",
        100 => "tlsv1 alert no renegotiation",
        109 => "tlsv13 alert missing extension",
        110 => "tlsv1 unsupported extension",
        111 => "tlsv1 certificate unobtainable",
        112 => "tlsv1 unrecognized name",
        113 => "tlsv1 bad certificate status response",
        114 => "tlsv1 bad certificate hash value",
        115 => "tlsv1 alert unknown psk identity",
        116 => "tlsv13 alert certificate required",
        120 => "tlsv1 alert no application protocol",
        _ => "unknown alert type",
    };
    format!("error:{:08X}:SSL routines::{reason}", 0x0a00_0000 + 1000 + u32::from(alert))
}

fn eof_text() -> &'static str {
    "error:0A000126:SSL routines::unexpected eof while reading"
}

fn rustls_text(error: &Error) -> String {
    match error {
        Error::AlertReceived(AlertDescription::Unknown(n)) => alert_text(*n),
        Error::AlertReceived(a) => alert_text(u8::from(*a)),
        Error::InvalidMessage(
            InvalidMessage::InvalidContentType
            | InvalidMessage::UnknownProtocolVersion
            | InvalidMessage::InvalidEmptyPayload,
        ) => "error:0A00010B:SSL routines::wrong version number".into(),
        Error::InvalidMessage(InvalidMessage::MessageTooLarge) => {
            "error:0A0000C6:SSL routines::packet length too long".into()
        }
        Error::DecryptError => "error:0A000119:SSL routines::decryption failed or bad record mac".into(),
        Error::PeerIncompatible(
            PeerIncompatible::ServerDoesNotSupportTls12Or13
            | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig,
        ) => "error:0A000102:SSL routines::unsupported protocol".into(),
        Error::NoApplicationProtocol => alert_text(120),
        Error::InvalidMessage(_) => format!("error:0A00009F:SSL routines::length mismatch ({error})"),
        other => format!("error:0A0C0103:SSL routines::internal error ({other})"),
    }
}

/// strerror's text without Rust's "(os error 104)".
fn strip_os_error(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_openssls() {
        let e = connect_error(&Error::AlertReceived(AlertDescription::HandshakeFailure));
        assert_eq!(e.kind, NetErrorKind::SslConnectError);
        assert_eq!(
            e.message,
            "TLS connect error: error:0A000410:SSL routines::ssl/tls alert handshake failure"
        );
        let e = connect_error(&Error::InvalidMessage(InvalidMessage::InvalidContentType));
        assert_eq!(e.message, "TLS connect error: error:0A00010B:SSL routines::wrong version number");
        let e = connect_error(&Error::AlertReceived(AlertDescription::CertificateRequired));
        assert_eq!(e.kind, NetErrorKind::SslClientcert);
    }
}
