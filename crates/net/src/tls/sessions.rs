//! Stored TLS sessions, and the rustls configurations that they belong to. A multi handle or a share handle
//! has one store.
//!
//! A session is found only with the configuration, host and port that it was made with. A session that was
//! verified by other rules, or has another client certificate, is never resumed. The stamps of its files are
//! part of a configuration. The number of the built configuration identifies it, so that nothing large is
//! hashed or compared here. The protocols offered by ALPN are not part of it: each handshake, including a
//! resumed one, negotiates a protocol anew (RFC 7301 3.1).
//!
//! A handshake takes sessions before it begins and stores new ones when it is over. Only these two steps need
//! an application's lock. Later tickets are stored when they arrive. A ticket is stored with the protocol of
//! its connection: early data cannot use any other (RFC 8446 4.2.10).

use super::config::Built;
use super::handshake::{ChainDetail, Server};
use super::openssl::sessions::{Exported, NotImported, Store};
use super::{TlsConfig, TlsInfo};
use crate::NetError;
use rustls::client::{ClientSessionStore, Resumption, Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, NamedGroup};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

/// Maximum number of servers; the least recently used one is removed.
const MAX_PEERS: usize = 10_000;
/// Maximum number of TLS 1.3 tickets per server; each is used once.
const MAX_TICKETS: usize = 4;
/// Maximum number of built configurations.
const MAX_CONFIGS: usize = 32;

/// The session store. Cheap to clone: clones share their content.
#[derive(Clone, Default)]
pub struct SessionStore {
    peers: Arc<Mutex<Peers>>,
    configs: Arc<Mutex<Configs>>,
    of_system: Arc<Mutex<Store>>,
}

type Configs = Vec<(Arc<TlsConfig>, Arc<Built>)>;

#[derive(Default)]
struct Peers {
    all: HashMap<Arc<Peer>, StoredServer>,
    /// The servers by the time of their last use.
    order: BTreeMap<u64, Arc<Peer>>,
    clock: u64,
}

/// The owner of sessions.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Peer {
    /// `Built::number` of the configuration.
    config: u64,
    host: String,
    port: u16,
}

#[derive(Default)]
struct StoredServer {
    used: u64,
    /// The server's certificate, as last seen.
    leaf: Option<Arc<[u8]>>,
    group: Option<NamedGroup>,
    tls12: Option<Tls12ClientSessionValue>,
    tickets: Vec<Ticket>,
    /// Whether any ticket was received.
    had_tickets: bool,
}

/// A ticket of TLS 1.3.
struct Ticket {
    value: Tls13ClientSessionValue,
    /// The protocol that its connection negotiated by ALPN.
    alpn: Option<Arc<str>>,
}

/// The early data that a ticket allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Early {
    /// The protocol of the data.
    pub alpn: Arc<str>,
    /// Maximum number of bytes that the server accepts.
    pub most: usize,
}

impl Ticket {
    /// Returns the early data allowed by this ticket: in the protocol of its connection, which must be
    /// offered again.
    fn early(&self, offer: &[String]) -> Option<Early> {
        let most = self.value.max_early_data_size() as usize;
        let alpn = self.alpn.clone().filter(|alpn| offer.iter().any(|name| **name == **alpn))?;
        (most > 0).then_some(Early { alpn, most })
    }
}

impl SessionStore {
    pub fn new() -> SessionStore {
        SessionStore::default()
    }

    /// Returns a store without sessions that shares the built configurations. The sessions of an FTP control
    /// connection are separate from all others, because its data connections must resume these and no others.
    pub fn apart(&self) -> SessionStore {
        SessionStore { peers: Arc::default(), configs: self.configs.clone(), of_system: Arc::default() }
    }

    /// Whether it is as new: nothing was stored in it, and nobody else has it.
    pub fn is_unused(&self) -> bool {
        let own = Arc::strong_count(&self.peers).max(Arc::strong_count(&self.configs)) == 1;
        let empty = self.is_empty() && lock(&self.configs).is_empty();
        own && empty && Arc::strong_count(&self.of_system) == 1 && self.of_system().is_empty()
    }

    /// Removes all sessions.
    pub fn clear(&self) {
        *lock(&self.peers) = Peers::default();
        lock(&self.of_system).clear();
    }

    /// Returns whether each received ticket has been used: the next connection would not be resumed, unlike
    /// those before it.
    pub fn is_used_up(&self) -> bool {
        let peers = lock(&self.peers);
        let mut had = peers.all.values().filter(|entry| entry.had_tickets).peekable();
        had.peek().is_some() && had.all(|entry| entry.tickets.is_empty())
    }

    /// Returns whether a session of this server is left: a next connection could be resumed.
    pub fn has_session(&self, host: &str, port: u16) -> bool {
        let is_peer = |peer: &Peer| peer.port == port && peer.host.eq_ignore_ascii_case(host);
        let has = |entry: &StoredServer| entry.tls12.is_some() || !entry.tickets.is_empty();
        lock(&self.peers).all.iter().any(|(peer, entry)| is_peer(peer) && has(entry))
    }

    /// Returns whether the next connection could send early data.
    pub fn has_early(&self, config: &Arc<TlsConfig>, host: &str, port: u16) -> bool {
        let Some(built) = self.built(&config.sessions_of()) else { return false };
        let peer = Peer { config: built.number, host: host.to_ascii_lowercase(), port };
        let peers = lock(&self.peers);
        let next = peers.all.get(&peer).and_then(|entry| entry.tickets.last());
        next.is_some_and(|ticket| ticket.early(&config.alpn).is_some())
    }

    /// Returns the number of servers.
    pub fn len(&self) -> usize {
        lock(&self.peers).all.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes the sessions that one handshake with a server may use out of the store.
    pub fn begin(&self, server: Server<'_>) -> Result<Arc<PeerSessions>, NetError> {
        let built = Built::get(&server.config.sessions_of(), self)?;
        let host = server.host.to_ascii_lowercase();
        let peer = Arc::new(Peer { config: built.number, host, port: server.port });
        let taken =
            if server.takes_session() { lock(&self.peers).take(&peer) } else { StoredServer::default() };
        let hand = Mutex::new(HandshakeSessions { taken, given: Some(StoredServer::default()), alpn: None });
        if server.detail == ChainDetail::Checks {
            built.verifier.keep_reports();
        }
        Ok(Arc::new(PeerSessions { store: self.clone(), built, peer, hand, detail: server.detail }))
    }

    /// Returns the sessions that may be exported; rustls exports none of its own.
    pub fn export(&self) -> Vec<Exported> {
        self.of_system().export()
    }

    /// Stores an exported session of this or another process. Its server is identified by `name` or, without
    /// that, by `proof`.
    pub fn import(&self, name: Option<&str>, proof: &[u8], session: &[u8]) -> Result<(), NotImported> {
        self.of_system().import(name, proof, session)
    }

    /// Returns the sessions of the system's library.
    pub(super) fn of_system(&self) -> MutexGuard<'_, Store> {
        lock(&self.of_system)
    }

    /// Returns the built form of an equal configuration, which includes the stamps of its files.
    pub(super) fn built(&self, config: &TlsConfig) -> Option<Arc<Built>> {
        let configs = lock(&self.configs);
        configs.iter().find(|(c, _)| **c == *config).map(|(_, built)| built.clone())
    }

    pub(super) fn keep_built(&self, config: &Arc<TlsConfig>, built: &Arc<Built>) {
        let mut configs = lock(&self.configs);
        configs.retain(|(c, _)| c != config);
        if configs.len() == MAX_CONFIGS {
            configs.remove(0);
        }
        configs.push((config.clone(), built.clone()));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl fmt::Debug for SessionStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionStore")
    }
}

impl Peers {
    /// Takes one ticket, and copies of what may be used repeatedly.
    fn take(&mut self, peer: &Arc<Peer>) -> StoredServer {
        if !self.all.contains_key(peer) {
            return StoredServer::default();
        }
        let entry = self.touch(peer);
        StoredServer {
            used: 0,
            leaf: None,
            group: entry.group,
            tls12: entry.tls12.clone(),
            tickets: entry.tickets.pop().into_iter().collect(),
            had_tickets: false,
        }
    }

    fn put(&mut self, peer: &Arc<Peer>, given: StoredServer) {
        let entry = self.touch(peer);
        entry.group = given.group.or(entry.group);
        entry.tls12 = given.tls12.or(entry.tls12.take());
        for ticket in given.tickets {
            if entry.tickets.len() == MAX_TICKETS {
                entry.tickets.remove(0);
            }
            entry.tickets.push(ticket);
            entry.had_tickets = true;
        }
    }

    /// Returns the entry and marks it as just used; creates it if there is none.
    fn touch(&mut self, peer: &Arc<Peer>) -> &mut StoredServer {
        self.clock += 1;
        if let Some(entry) = self.all.get(peer) {
            self.order.remove(&entry.used);
        } else if self.all.len() >= MAX_PEERS
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.all.remove(&oldest);
        }
        self.order.insert(self.clock, peer.clone());
        let entry = self.all.entry(peer.clone()).or_default();
        entry.used = self.clock;
        entry
    }

    fn forget(&mut self, peer: &Arc<Peer>) {
        if let Some(entry) = self.all.remove(peer) {
            self.order.remove(&entry.used);
        }
    }
}

/// The sessions of one server, as used by one connection.
pub struct PeerSessions {
    store: SessionStore,
    pub(crate) built: Arc<Built>,
    peer: Arc<Peer>,
    hand: Mutex<HandshakeSessions>,
    detail: ChainDetail,
}

struct HandshakeSessions {
    taken: StoredServer,
    /// The sessions received during the handshake; `None` after it.
    given: Option<StoredServer>,
    /// The protocol negotiated by ALPN.
    alpn: Option<Arc<str>>,
}

impl PeerSessions {
    pub fn store(&self) -> &SessionStore {
        &self.store
    }

    /// Returns rustls's configuration of the handshake. With `early` data may be sent with the hello if a
    /// session allows it.
    pub(crate) fn client_config(self: &Arc<Self>, config: &TlsConfig, early: bool) -> ClientConfig {
        let resumption = match config.resumes() {
            true => Resumption::store(self.clone()),
            false => Resumption::disabled(),
        };
        self.built.for_one(&config.alpn, resumption, early)
    }

    /// Adds what the handshake was to report about the server's certificates.
    pub(crate) fn describe_chain(&self, info: TlsInfo, certs: &[CertificateDer<'_>]) -> TlsInfo {
        match self.detail {
            ChainDetail::Leaf => info,
            ChainDetail::Expiry => TlsInfo { expiry: self.built.verifier.expiry(certs), ..info },
            ChainDetail::Checks => {
                let verifier = &self.built.verifier;
                let trust = verifier.report_of(&self.peer.host);
                TlsInfo { expiry: verifier.expiry(certs), trust, ..info }
            }
        }
    }

    /// Returns the server's certificate; connections with the same certificate share it.
    pub fn leaf(&self, shown: &[u8]) -> Arc<[u8]> {
        let mut peers = lock(&self.store.peers);
        let known = &mut peers.touch(&self.peer).leaf;
        match known {
            Some(known) if **known == *shown => known.clone(),
            _ => known.insert(shown.into()).clone(),
        }
    }

    /// Returns the early data that the taken ticket allows if these protocols are offered.
    pub fn early(&self, offer: &[String]) -> Option<Early> {
        lock(&self.hand).taken.tickets.last()?.early(offer)
    }

    /// Records the negotiated protocol. Tickets of this connection allow early data in that protocol.
    pub(crate) fn agreed(&self, alpn: Option<&str>) {
        let mut hand = lock(&self.hand);
        hand.alpn = alpn.map(Arc::from);
        let alpn = hand.alpn.clone();
        for ticket in hand.given.iter_mut().flat_map(|given| &mut given.tickets) {
            ticket.alpn = alpn.clone();
        }
    }

    /// Stores the new sessions after a handshake. After a failed one, all sessions of this server are
    /// removed.
    pub fn settle(&self, good: bool) {
        let given = lock(&self.hand).given.take().unwrap_or_default();
        let mut peers = lock(&self.store.peers);
        match good {
            true => peers.put(&self.peer, given),
            false => peers.forget(&self.peer),
        }
    }

    fn give(&self, f: impl FnOnce(&mut StoredServer)) {
        let mut hand = lock(&self.hand);
        if let Some(given) = &mut hand.given {
            return f(given);
        }
        let mut late = StoredServer::default();
        f(&mut late);
        lock(&self.store.peers).put(&self.peer, late);
    }
}

impl fmt::Debug for PeerSessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PeerSessions({:?})", self.peer)
    }
}

/// The name that rustls passes is always the server of this value.
impl ClientSessionStore for PeerSessions {
    fn set_kx_hint(&self, _: ServerName<'static>, group: NamedGroup) {
        self.give(|r| r.group = Some(group));
    }

    fn kx_hint(&self, _: &ServerName<'_>) -> Option<NamedGroup> {
        lock(&self.hand).taken.group
    }

    fn set_tls12_session(&self, _: ServerName<'static>, value: Tls12ClientSessionValue) {
        self.give(|r| r.tls12 = Some(value));
    }

    fn tls12_session(&self, _: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        lock(&self.hand).taken.tls12.clone()
    }

    fn remove_tls12_session(&self, _: &ServerName<'static>) {
        lock(&self.hand).taken.tls12 = None;
        if let Some(entry) = lock(&self.store.peers).all.get_mut(&self.peer) {
            entry.tls12 = None;
        }
    }

    fn insert_tls13_ticket(&self, _: ServerName<'static>, value: Tls13ClientSessionValue) {
        let alpn = lock(&self.hand).alpn.clone();
        self.give(|r| r.tickets.push(Ticket { value, alpn }));
    }

    fn take_tls13_ticket(&self, _: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        lock(&self.hand).taken.tickets.pop().map(|ticket| ticket.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_thousand_servers_and_the_oldest_makes_room() {
        let (store, config) = (SessionStore::new(), Arc::new(TlsConfig::default()));
        let meet = |n: usize| {
            let peer = store.begin(Server::new(&config, &format!("host{n}.example"), 443)).unwrap();
            let name = ServerName::try_from("any.example").unwrap();
            let known = peer.kx_hint(&name).is_some();
            peer.set_kx_hint(name, NamedGroup::X25519);
            peer.settle(true);
            known
        };
        assert!((0..MAX_PEERS).all(|n| !meet(n)));
        assert!((0..MAX_PEERS).all(meet));
        assert!(!meet(MAX_PEERS) && store.len() == MAX_PEERS);
        assert!(!meet(0), "unused for longest");
        assert!(meet(2));
    }

    #[test]
    fn a_failed_handshake_leaves_nothing_and_apart_is_apart() {
        let (store, config) = (SessionStore::new(), Arc::new(TlsConfig::default()));
        let name = || ServerName::try_from("any.example").unwrap();
        for good in [true, false] {
            let peer = store.begin(Server::new(&config, "a.example", 443)).unwrap();
            peer.set_kx_hint(name(), NamedGroup::X25519);
            assert!(store.is_empty() || !good, "nothing is put back before the end");
            peer.settle(good);
            assert_eq!(store.len(), usize::from(good));
        }
        let control = store.apart();
        control.begin(Server::new(&config, "a.example", 21)).unwrap().settle(true);
        assert_eq!((store.len(), control.len()), (0, 1));
        assert!(!control.is_used_up(), "a server that gives no tickets at all");
        let again = control.begin(Server::new(&config, "a.example", 21)).unwrap();
        assert_eq!(again.built.number, store.begin(Server::new(&config, "b", 1)).unwrap().built.number);
    }
}
