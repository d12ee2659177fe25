//! TLS for a transfer: on top of a layer that stands, or as the end of the race between the addresses of a host.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Instant;

use net::connect::{Connected, Endpoints, Reached, Through};
use net::filter::SocketFilter;
use net::filter::tls::{Answered, TlsFilter, begin, handshake_with};
use net::tls::ech::outer_name;
use net::tls::{Ech, PeerSessions, TlsConfig, TlsVersion};
use net::{Fault, Filter, NetError, SessionStore};
use tables::LockData;
use tables::scheme::Family;

use super::Transfer;
use super::connect::Way;
use super::plan::Plan;
use crate::error::Result;

/// A candidate whose server has answered, and is who it should be.
struct Raced {
    /// As settled for this host.
    tls: Arc<TlsConfig>,
    answered: Answered,
    sessions: Arc<PeerSessions>,
    endpoints: Endpoints,
    private: bool,
    connected_at: Instant,
}

impl Reached for Raced {
    fn endpoints(&self) -> &Endpoints {
        &self.endpoints
    }
}

impl Transfer {
    /// The way straight to an origin that speaks TLS from the first byte on: the race goes on through the handshake, so that
    /// one who takes a connection and answers nothing loses.
    pub(super) async fn reach_secured(
        &self,
        plan: &Plan,
        tls: &Arc<TlsConfig>,
        started: Instant,
        deadline: Instant,
    ) -> Result<Way> {
        let origin = &plan.identity.origin;
        let peer = (&*origin.host, origin.port);
        let counted = Cell::new(false);
        let stage = |connected: Connected| -> Through<'_, Raced> {
            if !counted.replace(true) {
                self.easy.info.borrow_mut().connects += 1;
                self.note_connected(connected.connected_at, &connected.endpoints);
            }
            Box::pin(self.answered(tls, peer, connected))
        };
        let won = self.connect_socket(plan, started, deadline, &stage).await?;
        self.note_connected(won.connected_at, &won.endpoints);
        self.note_established(plan);
        let agreed = won.answered.finish(&won.tls, peer, &won.sessions).await;
        let filter = self.settle(&won.sessions, agreed)?;
        self.note_ech_result(&won.tls, peer.0);
        self.mark(|info, elapsed| info.app_connect = elapsed);
        self.note_tls(filter.as_ref());
        Ok((filter, won.endpoints, won.private))
    }

    /// One candidate's handshake, until the server has answered.
    async fn answered(
        &self,
        tls: &Arc<TlsConfig>,
        peer: (&str, u16),
        connected: Connected,
    ) -> std::result::Result<Raced, Fault> {
        let tls = &self.settled(tls, peer).map_err(Fault::Final)?;
        let sessions = self.take_sessions(tls, peer, &self.sessions()).map_err(Fault::Final)?;
        let Connected { socket, endpoints, private, connected_at } = connected;
        let below = Box::new(SocketFilter::new(socket));
        match begin(below, tls, peer, &sessions).await {
            Ok(answered) => {
                Ok(Raced { tls: tls.clone(), answered, sessions, endpoints, private, connected_at })
            }
            Err(fault) => {
                self.locked(LockData::SslSession, || sessions.settle(false));
                Err(fault)
            }
        }
    }

    /// TLS to this peer on top of what is there. Also used to upgrade a connection (STARTTLS).
    pub async fn tls(
        &self,
        below: Box<dyn Filter>,
        config: &Arc<TlsConfig>,
        host: &str,
        port: u16,
    ) -> Result<Box<dyn Filter>> {
        self.tls_among(below, config, (host, port), self.sessions()).await
    }

    /// The same, with sessions of its own.
    pub async fn tls_among(
        &self,
        below: Box<dyn Filter>,
        config: &Arc<TlsConfig>,
        (host, port): (&str, u16),
        sessions: SessionStore,
    ) -> Result<Box<dyn Filter>> {
        let config = &self.settled(config, (host, port))?;
        let peer = self.take_sessions(config, (host, port), &sessions)?;
        let agreed = handshake_with(below, config, (host, port), &peer).await;
        let filter = self.settle(&peer, agreed)?;
        self.note_ech_result(config, host);
        Ok(filter)
    }

    /// What a handshake may use. The application's lock is held while sessions are taken and put back, not while the server
    /// is waited for.
    fn take_sessions(
        &self,
        config: &Arc<TlsConfig>,
        (host, port): (&str, u16),
        sessions: &SessionStore,
    ) -> std::result::Result<Arc<PeerSessions>, NetError> {
        let unverified = |e: NetError| e.with_verify_result(net::tls::verdict::UNSPECIFIED);
        let begin = || sessions.begin(config, host, port).map_err(unverified);
        self.locked(LockData::SslSession, begin)
    }

    /// A handshake is over.
    fn settle(
        &self,
        peer: &PeerSessions,
        agreed: std::result::Result<TlsFilter, NetError>,
    ) -> Result<Box<dyn Filter>> {
        self.locked(LockData::SslSession, || peer.settle(agreed.is_ok()));
        let filter = agreed?;
        self.easy.trace("ssl", || format!("{} has been agreed on", filter.info().version));
        Ok(Box::new(filter))
    }

    /// What is offered now that the name server has spoken.
    fn settled(
        &self,
        config: &Arc<TlsConfig>,
        (host, port): (&str, u16),
    ) -> std::result::Result<Arc<TlsConfig>, NetError> {
        let settled = config.settled(self.published(host).as_deref());
        self.note_ech(config, settled.as_deref().ok(), host);
        let settled = settled?;
        self.note_hello(&settled, host, port);
        Ok(settled)
    }

    fn note_ech(&self, config: &TlsConfig, settled: Option<&TlsConfig>, host: &str) {
        let Some(wanted) = &config.ech else { return };
        let offered = settled.and_then(|settled| settled.ech.as_ref());
        self.easy.note(|| {
            let text = match (wanted, offered) {
                (Ech::Grease, _) => "ECH: will GREASE ClientHello",
                (Ech::Offer { .. }, _) => "ECH: ECHConfig from command line",
                (Ech::Published { .. }, Some(_)) => "ECH: ECHConfig from HTTPS RR",
                (Ech::Published { .. }, None) => "ECH: requested but no ECHConfig available",
            };
            text.to_owned()
        });
        if let Some(Ech::Offer { outer_name: Some(outer), .. }) = offered {
            self.easy.note(|| format!("ECH: inner: '{host}', outer: '{outer}'"));
        }
    }

    /// The handshake is over, so what was offered was taken.
    fn note_ech_result(&self, config: &TlsConfig, host: &str) {
        let Some(offered) = &config.ech else { return };
        self.easy.note(|| {
            let (status, inner, outer) = match outer_name(offered) {
                Some(outer) => ("success", host.to_owned(), outer),
                None => ("sent GREASE", "NULL".to_owned(), "NULL".to_owned()),
            };
            format!("ECH: result: status is {status}, inner is {inner}, outer is {outer}")
        });
    }

    fn note_hello(&self, config: &TlsConfig, host: &str, port: u16) {
        if !config.alpn.is_empty() {
            self.easy.note(|| format!("ALPN: curl offers {}", config.alpn.join(",")));
        }
        self.easy.trace("ssl", || format!("handshake with {host}:{port}"));
        if config.min_version < TlsVersion::Tls12 {
            self.easy.note(|| "TLS 1.0 and 1.1 are not spoken here: TLS 1.2 is the least".to_owned());
        }
    }

    pub(super) fn note_tls(&self, filter: &dyn Filter) {
        let Some(tls) = filter.tls() else { return };
        self.easy.note(|| format!("SSL connection using {} / {} / {}", tls.version, tls.cipher, tls.group));
        if let Some(protocol) = &tls.alpn {
            self.easy.note(|| format!("ALPN: server accepted {protocol}"));
        }
        if let Some(own) = tls.peer_certs.first().filter(|_| self.easy.callbacks.wants_debug()) {
            self.easy.note(|| "Server certificate:".to_owned());
            net::tls::certinfo::summary(own)
                .into_iter()
                .for_each(|line| self.easy.note(|| format!("  {line}")));
        }
        let mut info = self.easy.info.borrow_mut();
        info.secured = true;
        info.verify_result = tls.verify_result;
        info.certificates =
            tls.certinfo.iter().map(|c| c.iter().map(|f| f.as_bytes().into()).collect()).collect();
    }

    /// A control connection of FTP keeps its own apart: its data connections resume these.
    pub(super) fn sessions(&self) -> SessionStore {
        let share = self.easy.share.borrow();
        let all = share.as_ref().and_then(|s| s.sessions()).unwrap_or(&self.multi.sessions);
        if self.scheme().family() == Family::Ftp { all.apart() } else { all.clone() }
    }
}
