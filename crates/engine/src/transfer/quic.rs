//! A connection by QUIC, alone or raced with one by TCP (CURLOPT_HTTP_VERSION(3): CURL_HTTP_VERSION_3,
//! _3ONLY).

use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use net::connect::{Connected, Endpoints, Through};
use net::filter::open::Transport;
use net::filter::udp::Underlay;
use net::filter::udp_tunnel;
use net::http3::tunnel::Http3Tunnel;
use net::quic::{Established, Purpose, Quic, QuicRequest, on_socket, shake_hands_through};
use net::tls::TlsConfig;
use net::{AnyConnection, Carrier, Connection, LayerError, http3};
use runtime::boxed;
use tables::{Code, EasyOption as O, LockData};

use super::connect::{MAX_PROXY_ROUNDS, Opening};
use super::proxy::Proxy;
use super::route::plan::{self, Plan};
use super::{Connector, tunnel};
use crate::error::{Error, Result};

impl Connector {
    /// Opens QUIC and TCP, the second one after the delay of Happy Eyeballs or when the first fails. The
    /// first to be established wins; if both fail, the error is TCP's.
    pub(super) async fn open_either(&self, plan: &Plan, opening: &Opening) -> Result<AnyConnection> {
        let delay = Duration::from_millis(self.long(O::HappyEyeballsTimeoutMs).max(0) as u64);
        let mut head_start = pin!(self.multi.runtime.reactor().sleep(delay));
        let mut quic = pin!(self.open_quic(plan, opening));
        let mut tcp = pin!(self.open_tcp(plan, opening));
        let quic_first = plan.quic() == plan::Quic::First;
        let (mut quic_runs, mut tcp_failed, mut both) = (true, None, false);
        poll_fn(|cx| {
            both = both || head_start.as_mut().poll(cx).is_ready();
            if quic_runs
                && (quic_first || both)
                && let Poll::Ready(opened) = quic.as_mut().poll(cx)
            {
                (quic_runs, both) = (false, true);
                match opened {
                    Ok(connection) => return Poll::Ready(Ok(connection)),
                    Err(e) => self.easy.note(|| format!("HTTP/3 is not to be had here: {}", e.message())),
                }
            }
            if tcp_failed.is_none()
                && (!quic_first || both)
                && let Poll::Ready(opened) = tcp.as_mut().poll(cx)
            {
                match opened {
                    Ok(connection) => return Poll::Ready(Ok(connection)),
                    Err(e) => tcp_failed = Some(e),
                }
                if !both {
                    both = true;
                    cx.waker().wake_by_ref(); // it is QUIC's turn
                }
            }
            match tcp_failed.take_if(|_| !quic_runs) {
                Some(e) => Poll::Ready(Err(e)),
                None => Poll::Pending,
            }
        })
        .await
    }

    /// Opens a QUIC connection to the origin, with a parked HTTP/3 session on it.
    pub(super) async fn open_quic(&self, plan: &Plan, opening: &Opening) -> Result<AnyConnection> {
        let config = plan.tls_by(Transport::Udp).ok_or_else(|| Error::from(Code::QuicConnectError))?;
        let (mut quic, endpoints, private) = match &plan.proxy {
            Some(proxy) => self.quic_through(proxy, plan, &config, opening).await?,
            None => self.quic_directly(plan, &config, opening).await?,
        };
        if let Some(tls) = quic.tls().filter(|tls| tls.late.is_none()) {
            self.mark(|info, elapsed| info.app_connect = elapsed);
            self.explain_tls(Some(&config), &plan.key.origin.host, tls);
            self.note_tls(tls);
        }
        let parked = http3::Parked::new(&mut quic.machine);
        let mut connection = Connection::new(self.key_of_opened(plan), Box::new(quic), endpoints, self.now());
        connection.state = Some(Box::new(parked));
        self.settle_opened(plan, opening, &mut connection, private);
        Ok(AnyConnection::Quic(Box::new(connection)))
    }

    /// Connects to the host of the plan itself.
    async fn quic_directly(
        &self,
        plan: &Plan,
        tls: &Arc<TlsConfig>,
        opening: &Opening,
    ) -> Result<(Quic, Endpoints, bool)> {
        // Early data goes only to an address that worked before: a datagram may be lost without notice, and
        // the data must not be sent to two hosts.
        let known = self.favourite(plan, &plan.host, plan.port).filter(|_| self.will_send_early(plan, tls));
        let origin = (&*plan.key.origin.host, plan.key.origin.port);
        let stage = |connected: Connected| -> Through<'_, Established> {
            let early = known.is_some() && connected.endpoints.remote == known;
            boxed(|| self.quic_established(tls, origin, connected, (early, Purpose::Streams)))
        };
        let won = self.connect_socket(plan, Transport::Udp, opening, &stage).await?;
        Ok(self.note_won(won, plan))
    }

    /// Connects to the plan's host through a proxy's tunnel for datagrams. Reconnects to a proxy that closes
    /// between two rounds of authentication.
    async fn quic_through(
        &self,
        proxy: &Proxy,
        plan: &Plan,
        tls: &Arc<TlsConfig>,
        opening: &Opening,
    ) -> Result<(Quic, Endpoints, bool)> {
        let origin = (&*plan.key.origin.host, plan.key.origin.port);
        for _ in 0..MAX_PROXY_ROUNDS {
            let (first, ends, private) = self.reach_first(plan, Purpose::Datagrams, opening).await?;
            let Some(tunnel) = tunnel::datagrams(self, first, proxy, plan).await? else { continue };
            let peer = ends.remote.ok_or_else(|| Error::from(Code::QuicConnectError))?;
            let how = (false, Purpose::Streams);
            let shaken = self.quic_handshake(tls, origin, (Box::new(tunnel), peer), how).await;
            return Ok((shaken.map_err(|fault| fault.into_error())?, ends, private));
        }
        Err(Error::new(Code::RecvError, "Proxy CONNECT-UDP aborted"))
    }

    /// Connects to a proxy that uses HTTP/3 (CURLPROXY_HTTPS3), and to nothing else.
    pub(super) async fn reach_proxy_by_quic(
        &self,
        plan: &Plan,
        proxy: &Proxy,
        purpose: Purpose,
        opening: &Opening,
    ) -> Result<(udp_tunnel::Through, Endpoints, bool)> {
        if plan.pre_proxy.is_some() {
            return Err(Error::new(Code::UnsupportedProtocol, "HTTP/3 proxy not possible via SOCKS"));
        }
        let tls = proxy.tls.as_ref().ok_or_else(|| Error::from(Code::QuicConnectError))?;
        let stage = |connected: Connected| -> Through<'_, Established> {
            let to = (&*proxy.host, proxy.port);
            boxed(|| self.quic_established(tls, to, connected, (false, purpose)))
        };
        let won = self.connect_socket(plan, Transport::Udp, opening, &stage).await;
        let (quic, ends, private) = self.note_won(won.map_err(|e| self.of_proxy(e))?, plan);
        self.note_proxy_verified(quic.tls());
        let tunnel = Http3Tunnel::new(quic, self.multi.runtime.reactor());
        Ok((udp_tunnel::Through::Quic(Box::new(tunnel)), ends, private))
    }

    fn note_won(&self, won: Established, plan: &Plan) -> (Quic, Endpoints, bool) {
        let Established { quic, endpoints, private, connected_at } = won;
        self.note_connected(connected_at, &endpoints);
        self.easy.info.borrow_mut().connects += 1;
        self.note_established(plan);
        (quic, endpoints, private)
    }

    /// The handshake with one address, as a stage of a race.
    async fn quic_established(
        &self,
        tls: &Arc<TlsConfig>,
        to: (&str, u16),
        connected: Connected,
        how: (bool, Purpose),
    ) -> std::result::Result<Established, LayerError> {
        let Connected { socket, endpoints, private, connected_at } = connected;
        let quic = self.quic_handshake(tls, to, on_socket(socket, &endpoints)?, how).await?;
        Ok(Established { quic, endpoints, private, connected_at })
    }

    /// Does a handshake. With `early` the request does not wait for its end, if the session allows that, and
    /// the race between addresses ends before.
    async fn quic_handshake(
        &self,
        tls: &Arc<TlsConfig>,
        (host, port): (&str, u16),
        (underlay, peer): (Box<dyn Underlay>, SocketAddr),
        (early, purpose): (bool, Purpose),
    ) -> std::result::Result<Quic, LayerError> {
        let tls = &self.settled(tls, (host, port), Some(peer)).map_err(LayerError::Final)?;
        let sessions = self.take_sessions(tls, (host, port), &self.sessions()).map_err(LayerError::Final)?;
        if let Some(early) = sessions.early(&tls.alpn).filter(|_| early) {
            self.note_early(&early);
        }
        let qlog = std::env::var_os("QLOGDIR").filter(|folder| !folder.is_empty()).map(PathBuf::from);
        let request = QuicRequest { host, port, tls, sessions: &sessions, early, purpose, qlog };
        let opened = shake_hands_through(self.multi.runtime.reactor(), underlay, peer, &request).await;
        let is_over = |opened: &Quic| opened.tls().is_none_or(|agreed| agreed.late.is_none());
        if opened.as_ref().map_or(true, is_over) {
            self.locked(LockData::SslSession, || sessions.settle(opened.is_ok()));
        }
        match &opened {
            Ok(_) => self.note_ech_result(tls, host),
            Err(fault) => self.note_refusal(tls, host, fault.error()),
        }
        opened
    }
}
