//! Everything about a connection that must be the same for it to be used again, compared as a value.
//!
//! Deny by default: whatever a connection was made with stands here, and two that differ in anything are two. The same
//! value guards whatever else outlives a transfer and belongs to a peer.

use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use crate::filter::open::{SocketOptions, Transport, UnixAddress};
use crate::resolver::IpVersion;
use crate::tls::TlsConfig;

/// What a connection was made for and with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Identity {
    /// The scheme's family: http, ftp, imap...
    pub scheme: String,
    pub origin: Origin,
    pub transport: Transport,
    /// How TLS to the origin is configured; STARTTLS counts too.
    pub tls: Option<Arc<TlsConfig>>,
    /// From the client to the origin, in the order in which they are passed.
    pub proxies: Vec<ProxyIdentity>,
    /// CURLOPT_CONNECT_TO and Alt-Svc: where it really leads.
    pub connect_to: Option<Origin>,
    pub ip_version: IpVersion,
    /// The entries of CURLOPT_RESOLVE that speak of a host on the way.
    pub pins: Vec<String>,
    /// The zone of an IPv6 address: by its name in the URL, or the number of CURLOPT_ADDRESS_SCOPE.
    pub zone: String,
    /// Who is asked for the host's addresses, when that is not the system: others may know the name as another's.
    pub asked: String,
    pub socket: SocketOptions,
    pub unix: Option<UnixAddress>,
    /// The address of the PROXY line (CURLOPT_HAPROXYPROTOCOL, HAPROXY_CLIENT_IP).
    pub haproxy: Option<String>,
    /// Of a connection that is authenticated as a whole: FTP, IMAP, NTLM, Negotiate...
    pub credentials: Option<Credentials>,
    /// What else a protocol demands of a connection: HTTP/2 with prior knowledge, a mailbox's options...
    pub variant: String,
    /// Somebody was logged in on it without being named, as whoever the process was then: it serves no other transfer.
    pub unnamed: bool,
    /// Set for connections that never leave their multi handle: the application took part in making them.
    pub owner: Option<Owner>,
}

/// Who may use a connection that the application took part in making.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Owner {
    /// This one easy handle.
    Handle(u64),
    /// Handles with the same functions for it.
    Kin([usize; 2]),
}

/// Host and port, the host in lower case and without brackets or trailing dot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Origin {
    /// Counted, because every lease knows its origin.
    pub host: Arc<str>,
    pub port: u16,
}

/// One proxy on the way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProxyIdentity {
    /// http, https, socks4, socks4a, socks5, socks5h...
    pub kind: String,
    pub origin: Origin,
    /// Where it listens, when that is no port.
    pub unix: Option<UnixAddress>,
    /// Whether it is asked for a tunnel.
    pub tunnel: bool,
    /// How TLS to the proxy is configured.
    pub tls: Option<Arc<TlsConfig>>,
    pub credentials: Option<Credentials>,
    /// Where the tunnel leads, when that differs from the origin, and extra headers sent to make it.
    pub variant: String,
}

/// A user's proof, byte for byte: two that are no UTF-8 must not become the same text. Its debug form shows nothing.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Credentials {
    pub user: Vec<u8>,
    pub password: Vec<u8>,
    pub options: Vec<u8>,
    /// Bearer token, authorization identity, service name: what else decides who is logged in.
    pub extra: Vec<u8>,
}

/// An identity and its hash, which is computed once: what the tables of pools are searched by. Cheap to clone. A hash
/// only says where to look: two keys are one when the values are.
#[derive(Clone, Debug)]
pub struct Key(Arc<Keyed>);

#[derive(Debug)]
struct Keyed {
    hash: u64,
    identity: Identity,
}

impl From<Identity> for Key {
    fn from(identity: Identity) -> Key {
        // One for the process, because pools are shared by threads; random, because hosts are chosen by others.
        static SEED: OnceLock<RandomState> = OnceLock::new();
        let hash = SEED.get_or_init(RandomState::new).hash_one(&identity);
        Key(Arc::new(Keyed { hash, identity }))
    }
}

impl Deref for Key {
    type Target = Identity;

    fn deref(&self) -> &Identity {
        &self.0.identity
    }
}

impl PartialEq for Key {
    /// A handle that asks again with the very key of its last connection is told so at once.
    fn eq(&self, other: &Key) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.hash == other.0.hash && self.0.identity == other.0.identity
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash);
    }
}

impl Origin {
    /// In the form in which hosts are compared.
    pub fn new(host: &str, port: u16) -> Origin {
        let host = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host);
        let host = host.strip_suffix('.').unwrap_or(host);
        Origin { host: host.to_ascii_lowercase().into(), port }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every field, changed; a new field must be added here, or the test does not compile.
    fn variants() -> Vec<Identity> {
        let base = Identity::default;
        let Identity {
            scheme: _,
            origin: _,
            transport: _,
            tls: _,
            proxies: _,
            connect_to: _,
            ip_version: _,
            pins: _,
            zone: _,
            asked: _,
            socket: _,
            unix: _,
            haproxy: _,
            credentials: _,
            variant: _,
            unnamed: _,
            owner: _,
        } = base();
        let unverified = TlsConfig { verify_peer: false, ..TlsConfig::default() };
        let path = UnixAddress::Path(b"/a".to_vec());
        let proxy = |password: &str| ProxyIdentity {
            kind: "http".into(),
            origin: Origin::new("p", 1),
            unix: None,
            tunnel: true,
            tls: None,
            credentials: Some(Credentials { password: password.into(), ..Credentials::default() }),
            variant: String::new(),
        };
        vec![
            Identity { scheme: "http".into(), ..base() },
            Identity { origin: Origin::new("a", 1), ..base() },
            Identity { origin: Origin::new("a", 2), ..base() },
            Identity { transport: Transport::Udp, ..base() },
            Identity { tls: Some(Arc::default()), ..base() },
            Identity { tls: Some(Arc::new(unverified)), ..base() },
            Identity { proxies: vec![proxy("a")], ..base() },
            Identity { proxies: vec![ProxyIdentity { tls: Some(Arc::default()), ..proxy("a") }], ..base() },
            Identity { proxies: vec![proxy("b")], ..base() },
            Identity { proxies: vec![proxy("a"), proxy("a")], ..base() },
            Identity { proxies: vec![ProxyIdentity { unix: Some(path.clone()), ..proxy("a") }], ..base() },
            Identity { connect_to: Some(Origin::new("a", 1)), ..base() },
            Identity { ip_version: IpVersion::V6, ..base() },
            Identity { pins: vec!["h:1:127.0.0.1".into()], ..base() },
            Identity { zone: "1".into(), ..base() },
            Identity { asked: "1".into(), ..base() },
            Identity { socket: SocketOptions { nodelay: false, ..SocketOptions::default() }, ..base() },
            Identity { unix: Some(path), ..base() },
            Identity { unix: Some(UnixAddress::Abstract(b"/a".to_vec())), ..base() },
            Identity { haproxy: Some("1.1.1.1".into()), ..base() },
            Identity { credentials: Some(Credentials::default()), ..base() },
            Identity {
                credentials: Some(Credentials { user: "u".into(), ..Credentials::default() }),
                ..base()
            },
            Identity { variant: "h2".into(), ..base() },
            Identity { unnamed: true, ..base() },
            Identity { owner: Some(Owner::Handle(1)), ..base() },
            Identity { owner: Some(Owner::Handle(2)), ..base() },
            Identity { owner: Some(Owner::Kin([1, 2])), ..base() },
            Identity { owner: Some(Owner::Kin([1, 3])), ..base() },
            base(),
        ]
    }

    #[test]
    fn differing_in_anything_is_being_different() {
        let all = variants();
        for (i, a) in all.iter().enumerate() {
            for (j, b) in all.iter().enumerate() {
                assert_eq!(a == b, i == j, "{a:?} and {b:?}");
            }
        }
    }

    #[test]
    fn keys_are_compared_by_value() {
        for (i, a) in variants().into_iter().enumerate() {
            for (j, b) in variants().into_iter().enumerate() {
                assert_eq!(Key::from(a.clone()) == Key::from(b), i == j);
            }
        }
    }

    #[test]
    fn hosts_have_one_form() {
        assert_eq!(Origin::new("Example.COM.", 80), Origin::new("example.com", 80));
        assert_eq!(Origin::new("[::1]", 80).to_string(), "[::1]:80");
    }

    #[test]
    fn secrets_stay_out_of_debug_output() {
        let secret = Credentials { password: "hunter2".into(), ..Credentials::default() };
        assert!(!format!("{secret:?}").contains("hunter2"));
    }
}
