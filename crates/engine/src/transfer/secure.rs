//! TLS for a transfer: on top of a connected layer, or as the end of the race between the addresses of a
//! host.

use std::cell::Cell;
use std::hint::cold_path;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use net::connect::{Connected, Endpoints, HasEndpoints, Through};
use net::filter::SocketFilter;
use net::filter::open::Transport;
use net::tls::backend::Handshake;
use net::tls::ech::outer_name;
use net::tls::handshake::{ChainDetail, Server, Tls, run};
use net::tls::{Capability, Early, Ech, Late, PeerSessions, TlsConfig, TlsInfo};
use net::{Filter, LayerError, NetError, NetErrorKind, SessionStore};
use runtime::boxed;
use tables::constant::CURLSSLOPT_EARLYDATA;
use tables::scheme::Family;
use tables::{Code, EasyOption as O, LockData};

use super::Connector;
use super::connect::{Opening, Way};
use super::route::plan::Plan;
use crate::error::{Error, Result};

/// A candidate whose server has answered, and is who it should be.
struct Raced {
    /// As settled for this host.
    tls: Arc<TlsConfig>,
    handshake: Box<Handshake>,
    endpoints: Endpoints,
    private: bool,
    connected_at: Instant,
}

impl HasEndpoints for Raced {
    fn endpoints(&self) -> &Endpoints {
        &self.endpoints
    }
}

impl Connector {
    /// The way straight to an origin that speaks TLS from the first byte on: the race goes on through the
    /// handshake, so that one who takes a connection and answers nothing loses.
    pub(super) async fn reach_secured(
        &self,
        plan: &Plan,
        tls: &Arc<TlsConfig>,
        opening: &Opening,
    ) -> Result<Way> {
        let origin = &plan.key.origin;
        let peer = (&*origin.host, origin.port);
        let (counted, unspoken) = (Cell::new(false), Cell::new(false));
        let stage = |connected: Connected| -> Through<'_, Raced> {
            if !counted.replace(true) {
                self.easy.info.borrow_mut().connects += 1;
                self.note_connected(connected.connected_at, &connected.endpoints);
            }
            boxed(|| async {
                let answered = self.answered(tls, peer, connected).await;
                let of_version = |fault: &LayerError| fault.error().kind == NetErrorKind::SslVersion;
                unspoken.set(answered.as_ref().is_err_and(of_version));
                answered
            })
        };
        let raced = self.connect_socket(plan, Transport::Tcp, opening, &stage).await;
        if unspoken.get() && tls.ech == Some(Ech::Grease) {
            // It leaves with TLS 1.3 alone, and means nothing: a server of before is asked again without.
            self.easy.note(|| "ECH: this server may speak TLS 1.2 alone: no GREASE".to_owned());
            let tls = Arc::new(TlsConfig { ech: None, ..(**tls).clone() });
            return boxed(|| self.reach_secured(plan, &tls, opening)).await;
        }
        let won = raced?;
        self.note_connected(won.connected_at, &won.endpoints);
        self.note_established(plan);
        let server = self.server(&won.tls, peer);
        let mut handshake = won.handshake;
        let outcome = handshake.finish(server).await;
        let filter = self.settle(*handshake, server, outcome)?;
        self.mark(|info, elapsed| info.app_connect = elapsed);
        if let Some(tls) = filter.tls() {
            self.note_tls(tls);
        }
        Ok((filter, won.endpoints, won.private))
    }

    /// Returns the server of a handshake, with what the transfer's reasons report about its certificates.
    fn server<'a>(&self, config: &'a Arc<TlsConfig>, (host, port): (&'a str, u16)) -> Server<'a> {
        Server { config, host, port, detail: self.easy.why.chain_detail() }
    }

    /// Runs the handshake of a candidate until the server has answered.
    async fn answered(
        &self,
        tls: &Arc<TlsConfig>,
        peer: (&str, u16),
        connected: Connected,
    ) -> std::result::Result<Raced, LayerError> {
        let tls = &self.settled(tls, peer, connected.endpoints.remote).map_err(LayerError::Final)?;
        let Connected { socket, endpoints, private, connected_at } = connected;
        let below = Box::new(SocketFilter::new(socket));
        let server = self.server(tls, peer);
        let handshake = Handshake::prepare(tls, self.multi.runtime.reactor());
        let mut handshake = Box::new(handshake.map_err(LayerError::Final)?);
        let take = || {
            self.note_session(server, &self.sessions());
            handshake.take_sessions(server, &self.sessions())
        };
        self.locked(LockData::SslSession, take).map_err(LayerError::Final)?;
        if let Err(fault) = handshake.begin(below, server).await {
            self.locked(LockData::SslSession, || handshake.settle(false));
            if let LayerError::Final(error) = &fault {
                self.note_refusal(tls, peer.0, error);
            }
            return Err(fault);
        }
        Ok(Raced { tls: tls.clone(), handshake, endpoints, private, connected_at })
    }

    /// TLS to this peer on top of what is there. Also used to upgrade a connection (STARTTLS).
    pub async fn tls(
        &self,
        below: Box<dyn Filter>,
        config: &Arc<TlsConfig>,
        host: &str,
        port: u16,
    ) -> Result<Box<dyn Filter>> {
        self.tls_by(below, self.server(config, (host, port)), self.sessions()).await
    }

    /// Performs a TLS handshake that resumes a session of these: for the data connection of a control
    /// connection, whose certificates were checked. Servers may require that.
    pub async fn tls_among(
        &self,
        below: Box<dyn Filter>,
        config: &Arc<TlsConfig>,
        peer: (&str, u16),
        sessions: SessionStore,
    ) -> Result<Box<dyn Filter>> {
        let server = self.server(config, peer);
        self.tls_by(below, Server { detail: server.detail.min(ChainDetail::Expiry), ..server }, sessions)
            .await
    }

    async fn tls_by(
        &self,
        below: Box<dyn Filter>,
        server: Server<'_>,
        sessions: SessionStore,
    ) -> Result<Box<dyn Filter>> {
        if self.player().is_some() {
            return Ok(below);
        }
        let config = &self.settled(server.config, (server.host, server.port), None)?;
        let server = Server { config, ..server };
        let mut handshake = Handshake::prepare(config, self.multi.runtime.reactor())?;
        self.show_context(config, &handshake)?;
        let take = || {
            self.note_session(server, &sessions);
            handshake.take_sessions(server, &sessions)
        };
        self.locked(LockData::SslSession, take)?;
        let outcome = run(&mut handshake, below, server).await;
        self.settle(handshake, server, outcome)
    }

    /// Calls the application's function with the context of the library, when all settings are in it.
    fn show_context(&self, config: &TlsConfig, handshake: &Handshake) -> Result<()> {
        let Some(context) = handshake.context().filter(|_| config.backend.is_hooked()) else { return Ok(()) };
        self.easy.callbacks.tls_context(context).map_err(|code| {
            let code = Code::from_id(code).unwrap_or(Code::AbortedByCallback);
            Error::new(code, "error signaled by SSL ctx callback")
        })
    }

    /// Whether the race between addresses goes on through the handshake: whose hello is the same for all of
    /// them. A function of the application's that is called once for each connection would be called for
    /// those that lose, and so would a smart card.
    pub(super) fn may_race(&self, plan: &Plan, tls: &Arc<TlsConfig>) -> bool {
        tls.backend.is_unchanged() && !self.will_send_early(plan, tls)
    }

    /// Whether the user lets the request leave with the hello. It must be the client that speaks first; and
    /// who is to prove by the connection who is asking must know with whom it is before that.
    fn may_send_early(&self, plan: &Plan) -> bool {
        let wanted = self.long(O::SslOptions) & CURLSSLOPT_EARLYDATA != 0;
        wanted
            && matches!(self.scheme().family(), Family::Http | Family::Ws)
            && plan.key.login.is_none()
            && plan
                .tls
                .as_ref()
                .is_some_and(|tls| tls.ech.is_none() && tls.backend.supports(Capability::EarlyData))
            && !self.on(O::ConnectOnly)
            && !self.easy.ahead.get()
            && self.easy.why.chain_detail() != ChainDetail::Checks
    }

    /// Whether it will: then the race between addresses ends when one is connected, since nothing that is
    /// sent early may leave to two.
    pub(super) fn will_send_early(&self, plan: &Plan, tls: &Arc<TlsConfig>) -> bool {
        let origin = &plan.key.origin;
        let has_early = || self.sessions().has_early(tls, &origin.host, origin.port);
        self.may_send_early(plan) && self.locked(LockData::SslSession, has_early)
    }

    /// TLS to the origin. Where the session allows it and the user, the handshake is left to the request.
    pub(super) async fn tls_to_origin(
        &self,
        below: Box<dyn Filter>,
        plan: &Plan,
        config: &Arc<TlsConfig>,
    ) -> Result<Box<dyn Filter>> {
        let peer = (&*plan.key.origin.host, plan.key.origin.port);
        if self.will_send_early(plan, config) {
            let server = self.server(config, peer);
            let mut handshake = Handshake::prepare(config, self.multi.runtime.reactor())?;
            let take = || handshake.take_sessions(server, &self.sessions());
            self.locked(LockData::SslSession, take)?;
            if let Some(early) = handshake.early(config) {
                self.note_early(&early);
                self.note_hello(config, peer.0, peer.1);
                return Ok(handshake.begin_early(below, server, early)?);
            }
        }
        let filter = self.tls(below, config, peer.0, peer.1).await?;
        self.mark(|info, elapsed| info.app_connect = elapsed);
        if let Some(tls) = filter.tls() {
            self.note_tls(tls);
        }
        Ok(filter)
    }

    /// The connection is used before its handshake is over: the outcome is reported when it is known.
    pub(super) fn expect_late(&mut self, tls: Option<&Arc<TlsInfo>>) {
        let late = tls.and_then(|tls| tls.late.clone());
        self.late = late.filter(|late| late.get().is_none());
    }

    /// Whether the handshake may still go on.
    pub fn is_ahead(&self) -> bool {
        self.late.is_some()
    }

    /// A handshake that went on beside the request may be over.
    pub fn note_late(&mut self) {
        let Some(late) = self.late.take_if(|late| matches!(late.get(), Some(Ok(_)))) else { return };
        cold_path();
        let Some(Ok(tls)) = late.get() else { return };
        self.mark(|info, elapsed| info.app_connect = elapsed);
        self.easy.info.borrow_mut().rare.early_data = tls.early;
        let sent = tls.early.unsigned_abs();
        if sent > 0 {
            self.easy.note(|| format!("SSL sending {sent} bytes of early data"));
        }
        self.explain_tls(None, self.url.peer.host(), tls);
        self.note_tls(tls);
        if tls.early > 0 {
            self.easy.note(|| format!("Server accepted {sent} bytes of TLS early data."));
        } else if sent > 0 {
            self.easy.note(|| "Server rejected TLS early data.".to_owned());
        }
    }

    /// Returns the error of a request that failed: a late failure of the handshake if there is one, or
    /// `failure`.
    pub fn late_failure(&mut self, failure: Error) -> Error {
        self.note_late();
        let late: Option<Arc<Late>> = self.late.take();
        match late.as_ref().and_then(|late| late.get()) {
            Some(Err(error)) => Error::from(error.clone()),
            _ => failure,
        }
    }

    pub(super) fn note_early(&self, early: &Early) {
        let Early { alpn, most } = early;
        self.easy.note(|| format!("SSL session allows {most} bytes of early data, reusing ALPN '{alpn}'"));
    }

    /// Notes whether a session with the server is known, before it is taken.
    fn note_session(&self, Server { host, port, .. }: Server<'_>, sessions: &SessionStore) {
        if self.easy.why.is_on() {
            self.easy.why.set_session_known(sessions.has_session(host, port));
        }
    }

    /// Takes what a QUIC handshake may resume. The application's lock is held around this and around
    /// settling, not while the server is waited for.
    pub(super) fn take_sessions(
        &self,
        config: &Arc<TlsConfig>,
        peer: (&str, u16),
        sessions: &SessionStore,
    ) -> std::result::Result<Arc<PeerSessions>, NetError> {
        let server = self.server(config, peer);
        self.note_session(server, sessions);
        let unverified = |e: NetError| e.with_verify_result(net::tls::verdict::UNSPECIFIED);
        let begin = || sessions.begin(server).map_err(unverified);
        self.locked(LockData::SslSession, begin)
    }

    /// Settles the sessions of a handshake that is over and returns its connection.
    fn settle(
        &self,
        mut handshake: Handshake,
        Server { config, host, .. }: Server<'_>,
        outcome: std::result::Result<(), NetError>,
    ) -> Result<Box<dyn Filter>> {
        self.locked(LockData::SslSession, || handshake.settle(outcome.is_ok()));
        if let Err(error) = outcome {
            self.note_refusal(config, host, &error);
            return Err(error.into());
        }
        if config.backend.supports(Capability::EncryptedHello) {
            self.note_ech_result(config, host);
        }
        let filter = handshake.into_filter()?;
        if let Some(tls) = filter.tls() {
            self.explain_tls(Some(config), host, tls);
        }
        self.easy.trace("ssl", || {
            let version = filter.tls().map_or("", |tls| tls.version);
            format!("{version} has been agreed on{}", config.backend.by())
        });
        Ok(filter)
    }

    /// Completes the configuration by the ECH keys that the name server has published.
    pub(super) fn settled(
        &self,
        config: &Arc<TlsConfig>,
        (host, port): (&str, u16),
        at: Option<SocketAddr>,
    ) -> std::result::Result<Arc<TlsConfig>, NetError> {
        let settled = config.settled(self.published(host, at).as_deref());
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
    pub(super) fn note_ech_result(&self, config: &TlsConfig, host: &str) {
        let Some(offered) = &config.ech else { return };
        self.easy.note(|| {
            let (status, inner, outer) = match outer_name(offered) {
                Some(outer) => ("success", host.to_owned(), outer),
                None => ("sent GREASE", "NULL".to_owned(), "NULL".to_owned()),
            };
            format!("ECH: result: status is {status}, inner is {inner}, outer is {outer}")
        });
    }

    /// Notes why a handshake failed, as far as it is about the server's certificate or its keys.
    pub(super) fn note_refusal(&self, config: &TlsConfig, host: &str, error: &NetError) {
        self.note_ech_refusal(config, host, error);
        if self.easy.why.is_on() {
            self.explain_refusal(config, host, error);
        }
    }

    /// Notes that the server could not open the hello and what it wants instead, for the user to try. The
    /// numbers are those of curl's usual library: the reason and the outcome.
    fn note_ech_refusal(&self, config: &TlsConfig, host: &str, error: &NetError) {
        let Some(list) = &error.retry_configs else { return };
        if list.is_empty() {
            return self.easy.note(|| "ECH: no retry_configs (rv = 1)".to_owned());
        }
        self.easy.note(|| format!("ECH: retry_configs {}", wire::base64::encode(list)));
        let outer = config.ech.as_ref().and_then(outer_name);
        let outer = outer.as_deref().unwrap_or("NULL");
        self.easy.note(|| format!("ECH: retry_configs for {host} from {outer}, 424 -106"));
    }

    fn note_hello(&self, config: &TlsConfig, host: &str, port: u16) {
        if !config.alpn.is_empty() {
            self.easy.note(|| format!("ALPN: curl offers {}", config.alpn.join(",")));
        }
        self.easy.trace("ssl", || format!("handshake with {host}:{port}"));
        if let Some(text) = config.caveat() {
            self.easy.note(|| text.to_owned());
        }
    }

    pub(super) fn note_tls(&self, tls: &TlsInfo) {
        self.easy.note(|| format!("SSL connection using {} / {} / {}", tls.version, tls.cipher, tls.group));
        if let Some(protocol) = &tls.alpn {
            self.easy.note(|| format!("ALPN: server accepted {protocol}"));
        }
        if let Some(own) = tls.peer_cert.as_deref().filter(|_| self.easy.callbacks.wants_debug()) {
            self.easy.note(|| "Server certificate:".to_owned());
            net::tls::certinfo::summary(own)
                .into_iter()
                .for_each(|line| self.easy.note(|| format!("  {line}")));
        }
        let mut info = self.easy.info.borrow_mut();
        info.secured = true;
        info.note_native_tls(tls.native);
        info.note_verify_result(tls.verify_result);
        if !tls.certinfo.is_empty() {
            info.rare.certificates =
                tls.certinfo.iter().map(|c| c.iter().map(|f| f.as_bytes().into()).collect()).collect();
        }
    }

    /// A control connection of FTP keeps its own apart: its data connections resume these.
    pub(super) fn sessions(&self) -> SessionStore {
        let share = self.easy.share.borrow();
        let all = share.as_ref().and_then(|s| s.sessions()).unwrap_or(&self.multi.sessions);
        if self.scheme().family() == Family::Ftp { all.apart() } else { all.clone() }
    }
}
