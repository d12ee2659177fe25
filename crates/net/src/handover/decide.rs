//! Which connections may move to another process, and why others may not. A pure decision on facts.

use crate::connection_key::{ConnectionKey, Login, Protocol};
use crate::tls::Backend;

/// The facts on which the decision depends. The default is a connection that may move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// A parent process opened the connection before a fork.
    pub inherited: bool,
    /// The application's functions made the socket or close it.
    pub callbacks: bool,
    pub ssh: bool,
    /// The system's TLS library serves a layer.
    pub system_tls: bool,
    /// NTLM or Negotiate has authenticated the connection.
    pub connection_auth: bool,
    /// The application speaks on it itself (CURLOPT_CONNECT_ONLY).
    pub connect_only: bool,
    /// Only this process knows what the key means: a handle, a function, a ticket's owner.
    pub bound: bool,
    /// Replies to commands that were sent ahead have not been read.
    pub owed: bool,
    /// The reason of a layer.
    pub layers: Option<Obstacle>,
    /// The protocol's state cannot be encoded.
    pub state: bool,
}

/// Why a connection stays in its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    Inherited,
    Callbacks,
    Quic,
    Ssh,
    SystemTls,
    ConnectionAuth,
    ConnectOnly,
    Bound,
    Owed,
    /// A layer without an encoding: a security context of SOCKS, a stream of another session.
    Layer,
    /// Received or unsent bytes lie in a layer's buffer.
    Buffered,
    /// A layer has ended, or its handshake has not.
    NotOpen,
    State,
    /// The encoding is longer than a broker accepts.
    Size,
}

impl Obstacle {
    /// Returns the reason in words.
    pub fn text(self) -> &'static str {
        match self {
            Obstacle::Inherited => "the parent process opened it",
            Obstacle::Callbacks => "the application's socket functions made it",
            Obstacle::Quic => "QUIC carries it",
            Obstacle::Ssh => "SSH secures it",
            Obstacle::SystemTls => "the system's TLS library secures it",
            Obstacle::ConnectionAuth => "NTLM or Negotiate authenticated it",
            Obstacle::ConnectOnly => "the application speaks on it",
            Obstacle::Bound => "it belongs to a handle or a function of this process",
            Obstacle::Owed => "replies are pending",
            Obstacle::Layer => "one of its layers cannot move",
            Obstacle::Buffered => "bytes wait in a buffer",
            Obstacle::NotOpen => "TLS is not open on it",
            Obstacle::State => "the protocol's state cannot move",
            Obstacle::Size => "its state is too large",
        }
    }
}

impl Facts {
    /// Returns the facts that the key alone decides.
    pub fn of_key(key: &ConnectionKey) -> Facts {
        let configs = key.tls.iter().chain(key.proxies.iter().filter_map(|proxy| proxy.tls.as_ref()));
        let connection_auth = match &key.login {
            Some(Login::Requests(login)) => login.server.is_some() || login.proxy.is_some(),
            Some(Login::Session(_)) | None => false,
        };
        Facts {
            ssh: matches!(key.protocol, Protocol::Ssh(_)),
            system_tls: configs.into_iter().any(|config| config.backend != Backend::Rustls),
            connection_auth,
            connect_only: key.connect_only.is_some(),
            bound: !key.is_portable(),
            ..Facts::default()
        }
    }
}

/// Returns the first reason against a move; `None` if the connection may move.
pub fn obstacle(facts: &Facts) -> Option<Obstacle> {
    let reasons = [
        (facts.inherited, Obstacle::Inherited),
        (facts.callbacks, Obstacle::Callbacks),
        (facts.ssh, Obstacle::Ssh),
        (facts.system_tls, Obstacle::SystemTls),
        (facts.connection_auth, Obstacle::ConnectionAuth),
        (facts.connect_only, Obstacle::ConnectOnly),
        (facts.bound, Obstacle::Bound),
        (facts.owed, Obstacle::Owed),
    ];
    let found = reasons.into_iter().find(|(applies, _)| *applies).map(|(_, reason)| reason);
    found.or(facts.layers).or(facts.state.then_some(Obstacle::State))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::connection_key::{
        ConnectionAuth, Owner, ProxyKind, ProxyTerms, RequestLogin, ServerLogin, UserPassword,
    };
    use crate::tls::TlsConfig;

    #[test]
    fn each_fact_alone_keeps_a_connection() {
        let none = Facts::default();
        let table = [
            (none, None),
            (Facts { inherited: true, ..none }, Some(Obstacle::Inherited)),
            (Facts { callbacks: true, ..none }, Some(Obstacle::Callbacks)),
            (Facts { ssh: true, ..none }, Some(Obstacle::Ssh)),
            (Facts { system_tls: true, ..none }, Some(Obstacle::SystemTls)),
            (Facts { connection_auth: true, ..none }, Some(Obstacle::ConnectionAuth)),
            (Facts { connect_only: true, ..none }, Some(Obstacle::ConnectOnly)),
            (Facts { bound: true, ..none }, Some(Obstacle::Bound)),
            (Facts { owed: true, ..none }, Some(Obstacle::Owed)),
            (Facts { layers: Some(Obstacle::Layer), ..none }, Some(Obstacle::Layer)),
            (Facts { layers: Some(Obstacle::Buffered), state: true, ..none }, Some(Obstacle::Buffered)),
            (Facts { state: true, ..none }, Some(Obstacle::State)),
            (Facts { inherited: true, ssh: true, ..none }, Some(Obstacle::Inherited)),
        ];
        for (facts, expected) in table {
            assert_eq!(obstacle(&facts), expected, "{facts:?}");
        }
    }

    /// Returns the verdict on a key that differs from the default in one way.
    fn judged(change: impl FnOnce(&mut ConnectionKey)) -> Option<Obstacle> {
        let mut key = ConnectionKey::default();
        change(&mut key);
        obstacle(&Facts::of_key(&key))
    }

    #[test]
    fn keys_that_mean_nothing_elsewhere_keep_a_connection() {
        let system = || Some(Arc::new(TlsConfig { backend: Backend::SYSTEM, ..TlsConfig::default() }));
        let ours = || Some(Arc::new(TlsConfig::default()));
        let proxy = |tls| ProxyTerms {
            kind: ProxyKind::Https,
            origin: Default::default(),
            unix: None,
            tls,
            tunnel: None,
        };
        assert_eq!(judged(|_| ()), None);
        assert_eq!(judged(|key| key.tls = ours()), None);
        assert_eq!(judged(|key| key.proxies = vec![proxy(ours())]), None);
        assert_eq!(judged(|key| key.login = Some(Login::Session(Box::default()))), None);
        assert_eq!(judged(|key| key.login = Some(Login::Requests(Box::default()))), None);
        assert_eq!(judged(|key| key.protocol = Protocol::Ssh(Box::default())), Some(Obstacle::Ssh));
        assert_eq!(judged(|key| key.tls = system()), Some(Obstacle::SystemTls));
        assert_eq!(judged(|key| key.proxies = vec![proxy(system())]), Some(Obstacle::SystemTls));
        assert_eq!(judged(|key| key.connect_only = Some(1)), Some(Obstacle::ConnectOnly));
        assert_eq!(judged(|key| key.by_ticket = true), Some(Obstacle::Bound));
        assert_eq!(judged(|key| key.owner = Some(Owner::Handle(1))), Some(Obstacle::Bound));
        let user = || UserPassword::new("u", "p");
        let proxy_login = RequestLogin { server: None, proxy: Some(user()) };
        assert_eq!(
            judged(|key| key.login = Some(Login::Requests(Box::new(proxy_login)))),
            Some(Obstacle::ConnectionAuth)
        );
        let server = ServerLogin {
            scheme: tables::Scheme::Http,
            origin: Default::default(),
            user: user(),
            method: ConnectionAuth::Ntlm,
        };
        let login = RequestLogin { server: Some(server), proxy: None };
        assert_eq!(
            judged(|key| key.login = Some(Login::Requests(Box::new(login)))),
            Some(Obstacle::ConnectionAuth)
        );
    }
}
