//! TLS under QUIC (RFC 9001): rustls does the handshake and computes the keys. This is our own adapter for
//! `quinn-proto`, whose own one does not reveal the negotiated parameters and why a server was refused.

use std::any::Any;
use std::io::Cursor;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use quinn_proto::crypto::{self, ExportKeyingMaterialError, HeaderKey, KeyPair, Keys, PacketKey};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, Side, TransportError, TransportErrorCode};
use ring::aead;
use rustls::crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::quic::{ClientConnection, KeyChange, Secrets, Suite, Version};
use rustls::{CipherSuite, ClientConfig, Error, HandshakeKind};
use wire::varint;

use super::window::{Window, narrowed, parameter};
use crate::tls::suites;

/// The only version that is spoken (RFC 9000 §15).
const V1: u32 = 1;

/// The key of the tag that authenticates a Retry (RFC 9001 §5.8); it is public.
const RETRY_KEY: u128 = 0xbe0c690b9f66575a1d766b54e368c84e;
const RETRY_NONCE: [u8; 12] = [0x46, 0x15, 0x99, 0xd3, 0x5d, 0x63, 0x2b, 0xf2, 0x23, 0x98, 0x25, 0xbb];
const TAG: usize = 16;

/// How handshakes are begun.
pub struct Hello {
    config: Arc<ClientConfig>,
    pub window: Window,
    /// Why none could be.
    fault: OnceLock<Error>,
}

/// The TLS session of one connection.
struct Session {
    tls: ClientConnection,
    initial: Suite,
    next: Option<Secrets>,
    window: Window,
    /// Why the server was refused, or its alert.
    fault: Option<Error>,
}

/// The facts about a handshake that are known so far.
pub struct HandshakeFacts {
    pub alpn: Option<String>,
    /// The names of [`suites`], as in every `TlsInfo`.
    pub cipher: &'static str,
    pub group: &'static str,
    pub resumed: bool,
    pub certificates: Vec<CertificateDer<'static>>,
    /// The peer's idle timeout.
    pub idle: Option<Duration>,
    pub fault: Option<Error>,
}

impl Hello {
    pub fn new(config: ClientConfig) -> Hello {
        Hello { config: Arc::new(config), window: Window::default(), fault: OnceLock::new() }
    }

    /// Why no handshake could be begun, if that was why.
    pub fn fault(&self) -> Option<&Error> {
        self.fault.get()
    }
}

impl crypto::ClientConfig for Hello {
    fn start_session(
        self: Arc<Self>,
        version: u32,
        name: &str,
        parameters: &TransportParameters,
    ) -> Result<Box<dyn crypto::Session>, ConnectError> {
        // The protection of the first packets is public, and independent of the offered suites.
        let initial = TLS13_AES_128_GCM_SHA256.tls13().and_then(|suite| suite.quic_suite());
        let initial = initial.filter(|_| version == V1).ok_or(ConnectError::UnsupportedVersion)?;
        let invalid = || ConnectError::InvalidServerName(name.to_owned());
        let server = ServerName::try_from(name).map_err(|_| invalid())?.to_owned();
        let mut encoded = Vec::new();
        parameters.write(&mut encoded);
        let encoded = narrowed(&encoded);
        let tls = ClientConnection::new(self.config.clone(), Version::V1, server, encoded).map_err(|e| {
            let _ = self.fault.set(e); // the first one is reported
            ConnectError::UnsupportedVersion
        })?;
        Ok(Box::new(Session { tls, initial, next: None, window: self.window.clone(), fault: None }))
    }
}

impl Session {
    fn facts(&self) -> HandshakeFacts {
        let tls = &self.tls;
        let suite = tls.negotiated_cipher_suite().map_or(CipherSuite::TLS_NULL_WITH_NULL_NULL, |s| s.suite());
        HandshakeFacts {
            alpn: tls.alpn_protocol().map(|name| String::from_utf8_lossy(name).into_owned()),
            cipher: suites::name(suite),
            group: tls.negotiated_key_exchange_group().map_or("", |g| suites::group_name(g.name())),
            resumed: tls.handshake_kind() == Some(HandshakeKind::Resumed),
            certificates: tls
                .peer_certificates()
                .unwrap_or_default()
                .iter()
                .map(|der| der.clone().into_owned())
                .collect(),
            idle: tls.quic_transport_parameters().and_then(idle_limit),
            fault: self.fault.clone(),
        }
    }
}

/// Returns the idle timeout in transport parameters; 0 means none (RFC 9000 §18.2: max_idle_timeout).
fn idle_limit(mut encoded: &[u8]) -> Option<Duration> {
    const MAX_IDLE_TIMEOUT: u64 = 1;
    while let Some((id, value, behind)) = parameter(encoded) {
        if id == MAX_IDLE_TIMEOUT {
            let (limit, _) = varint::read(value)?;
            return (limit > 0).then(|| Duration::from_millis(limit));
        }
        encoded = behind;
    }
    None
}

fn keys(keys: rustls::quic::Keys) -> Keys {
    Keys {
        header: KeyPair { local: Box::new(keys.local.header), remote: Box::new(keys.remote.header) },
        packet: KeyPair { local: Box::new(keys.local.packet), remote: Box::new(keys.remote.packet) },
    }
}

impl crypto::Session for Session {
    fn initial_keys(&self, to: &ConnectionId, side: Side) -> Keys {
        let side = if side.is_client() { rustls::Side::Client } else { rustls::Side::Server };
        keys(self.initial.keys(to, side, Version::V1))
    }

    /// Returns [`HandshakeFacts`], at any time.
    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        Some(Box::new(self.facts()))
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None // it is in `HandshakeFacts`
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        let keys = self.tls.zero_rtt_keys()?;
        Some((Box::new(keys.header), Box::new(keys.packet)))
    }

    fn early_data_accepted(&self) -> Option<bool> {
        Some(self.tls.is_early_data_accepted())
    }

    fn is_handshaking(&self) -> bool {
        self.tls.is_handshaking()
    }

    fn read_handshake(&mut self, bytes: &[u8]) -> Result<bool, TransportError> {
        let Err(e) = self.tls.read_hs(bytes) else { return Ok(false) };
        let mut error = TransportError::from(match self.tls.alert() {
            Some(alert) => TransportErrorCode::crypto(alert.into()),
            None => TransportErrorCode::PROTOCOL_VIOLATION,
        });
        error.reason = e.to_string();
        self.fault = Some(e);
        Err(error)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        let encoded = self.tls.quic_transport_parameters();
        let read = encoded.map(|encoded| TransportParameters::read(Side::Client, &mut Cursor::new(encoded)));
        Ok(read.transpose()?)
    }

    fn write_handshake(&mut self, out: &mut Vec<u8>) -> Option<Keys> {
        Some(match self.tls.write_hs(out)? {
            KeyChange::Handshake { keys: of_handshake } => keys(of_handshake),
            KeyChange::OneRtt { keys: of_data, next } => {
                self.next = Some(next);
                self.window.guard(keys(of_data))
            }
        })
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        let keys = self.next.as_mut()?.next_packet_keys();
        let keys =
            KeyPair { local: Box::new(keys.local) as Box<dyn PacketKey>, remote: Box::new(keys.remote) as _ };
        Some(self.window.guard_packets(keys))
    }

    /// Verifies the tag. It covers a packet that begins with the destination of the first one.
    fn is_valid_retry(&self, to: &ConnectionId, header: &[u8], payload: &[u8]) -> bool {
        let Some((rest, tag)) = payload.split_last_chunk::<TAG>() else { return false };
        let packet = [&[to.len() as u8][..], to, header, rest].concat(); // at most 20 (RFC 9000 §17.2)
        let Ok(key) = aead::UnboundKey::new(&aead::AES_128_GCM, &RETRY_KEY.to_be_bytes()) else {
            return false;
        };
        let nonce = aead::Nonce::assume_unique_for_key(RETRY_NONCE);
        let key = aead::LessSafeKey::new(key);
        key.open_in_place(nonce, aead::Aad::from(packet), &mut tag.to_vec()).is_ok()
    }

    /// Returns an error, because nothing uses it.
    fn export_keying_material(
        &self,
        _: &mut [u8],
        _: &[u8],
        _: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        Err(ExportKeyingMaterialError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peers_idle_limit() {
        let encoded = |value: &[u8]| [&[4, 1, 7, 1, value.len() as u8], value, &[5, 1, 0]].concat();
        for (value, limit) in [(&[0x40, 0x64][..], Some(100)), (&[0], None), (&[], None)] {
            assert_eq!(idle_limit(&encoded(value)), limit.map(Duration::from_millis));
        }
        assert_eq!(idle_limit(&[4, 1, 7, 5, 1, 0]), None);
    }
}
