//! Remembered TLS sessions, and the rustls configurations they belong to. A multi handle or a share handle holds one store.
//!
//! A session is found only under the whole configuration, host and port it was made with: what was verified under other
//! rules, or with another client certificate, is never resumed. What was offered by ALPN is no part of that: each
//! handshake, a resumed one too, agrees on a protocol anew (RFC 7301 3.1).

use super::TlsConfig;
use super::config::Built;
use rustls::NamedGroup;
use rustls::client::{ClientSessionStore, Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls::pki_types::ServerName;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

/// Servers remembered; the one unused for longest makes room.
const MAX_PEERS: usize = 256;
/// TLS 1.3 tickets per server; each is used once.
const MAX_TICKETS: usize = 4;
/// Configurations built and kept.
const MAX_CONFIGS: usize = 32;

/// Cheap to clone: clones share their content.
#[derive(Clone, Default)]
pub struct SessionStore(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    peers: HashMap<Peer, Remembered>,
    configs: Vec<(Arc<TlsConfig>, Arc<Built>)>,
    clock: u64,
}

/// Whose sessions they are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Peer {
    config: Arc<TlsConfig>,
    host: String,
    port: u16,
}

#[derive(Default)]
struct Remembered {
    used: u64,
    group: Option<NamedGroup>,
    tls12: Option<Tls12ClientSessionValue>,
    tickets: Vec<Tls13ClientSessionValue>,
}

impl SessionStore {
    pub fn new() -> SessionStore {
        SessionStore::default()
    }

    /// Forgets every session.
    pub fn clear(&self) {
        self.lock().peers.clear();
    }

    /// Servers of which something is remembered.
    pub fn len(&self) -> usize {
        self.lock().peers.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The view of one server that rustls is given.
    pub fn of_peer(&self, config: &Arc<TlsConfig>, host: &str, port: u16) -> PeerSessions {
        let peer = Peer { config: config.sessions_of(), host: host.to_ascii_lowercase(), port };
        PeerSessions { store: self.clone(), peer }
    }

    /// The configuration built earlier, if it is still what would be built today.
    pub(super) fn built(&self, config: &TlsConfig) -> Option<Arc<Built>> {
        let inner = self.lock();
        let (_, built) = inner.configs.iter().find(|(c, _)| **c == *config)?;
        built.is_current(config).then(|| built.clone())
    }

    pub(super) fn keep_built(&self, config: &Arc<TlsConfig>, built: &Arc<Built>) {
        let mut inner = self.lock();
        inner.configs.retain(|(c, _)| c != config);
        if inner.configs.len() == MAX_CONFIGS {
            inner.configs.remove(0);
        }
        inner.configs.push((config.clone(), built.clone()));
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl fmt::Debug for SessionStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionStore")
    }
}

/// The sessions of one server.
#[derive(Debug)]
pub struct PeerSessions {
    store: SessionStore,
    peer: Peer,
}

impl PeerSessions {
    /// After a failed verification nothing of this server is used again.
    pub fn forget(&self) {
        self.store.lock().peers.remove(&self.peer);
    }

    fn with<T>(&self, f: impl FnOnce(&mut Remembered) -> T) -> T {
        let mut inner = self.store.lock();
        inner.clock += 1;
        let now = inner.clock;
        if !inner.peers.contains_key(&self.peer) {
            inner.make_room();
        }
        let entry = inner.peers.entry(self.peer.clone()).or_default();
        entry.used = now;
        f(entry)
    }

    fn look<T>(&self, f: impl FnOnce(&mut Remembered) -> Option<T>) -> Option<T> {
        let mut inner = self.store.lock();
        inner.clock += 1;
        let now = inner.clock;
        let entry = inner.peers.get_mut(&self.peer)?;
        entry.used = now;
        f(entry)
    }
}

impl Inner {
    fn make_room(&mut self) {
        if self.peers.len() < MAX_PEERS {
            return;
        }
        let oldest = self.peers.iter().min_by_key(|(_, r)| r.used).map(|(p, _)| p.clone());
        if let Some(peer) = oldest {
            self.peers.remove(&peer);
        }
    }
}

/// The name that rustls passes is that of the server this view was made for.
impl ClientSessionStore for PeerSessions {
    fn set_kx_hint(&self, _: ServerName<'static>, group: NamedGroup) {
        self.with(|r| r.group = Some(group));
    }

    fn kx_hint(&self, _: &ServerName<'_>) -> Option<NamedGroup> {
        self.look(|r| r.group)
    }

    fn set_tls12_session(&self, _: ServerName<'static>, value: Tls12ClientSessionValue) {
        self.with(|r| r.tls12 = Some(value));
    }

    fn tls12_session(&self, _: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        self.look(|r| r.tls12.clone())
    }

    fn remove_tls12_session(&self, _: &ServerName<'static>) {
        self.look(|r| r.tls12.take());
    }

    fn insert_tls13_ticket(&self, _: ServerName<'static>, value: Tls13ClientSessionValue) {
        self.with(|r| {
            if r.tickets.len() == MAX_TICKETS {
                r.tickets.remove(0);
            }
            r.tickets.push(value);
        });
    }

    fn take_tls13_ticket(&self, _: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        self.look(|r| r.tickets.pop())
    }
}
