//! A connection by QUIC, alone or beside one by TCP (CURLOPT_HTTP_VERSION(3): CURL_HTTP_VERSION_3, _3ONLY).

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use net::filter::open::Transport;
use net::quic::{Established, QuicRequest, connect};
use net::{Connection, http3};
use tables::{Code, EasyOption as O, LockData};

use super::Transfer;
use super::plan::Plan;
use crate::error::{Error, Result};

impl Transfer {
    /// QUIC first; TCP after the delay of Happy Eyeballs, or when QUIC fails. The first to stand wins; when neither does,
    /// what TCP failed with is told.
    pub(super) async fn open_either(
        &self,
        plan: &Plan,
        started: Instant,
        deadline: Instant,
    ) -> Result<Connection> {
        let delay = Duration::from_millis(self.long(O::HappyEyeballsTimeoutMs).max(0) as u64);
        let mut head_start = pin!(self.multi.runtime.reactor().sleep(delay));
        let mut quic = pin!(self.open_quic(plan, deadline));
        let mut tcp = pin!(self.open_tcp(plan, started, deadline));
        let (mut quic_runs, mut tcp_failed) = (true, None);
        poll_fn(|cx| {
            if quic_runs && let Poll::Ready(opened) = quic.as_mut().poll(cx) {
                quic_runs = false;
                match opened {
                    Ok(connection) => return Poll::Ready(Ok(connection)),
                    Err(e) => self.easy.note(|| format!("HTTP/3 is not to be had here: {}", e.message())),
                }
            }
            if tcp_failed.is_none() && (!quic_runs || head_start.as_mut().poll(cx).is_ready()) {
                match tcp.as_mut().poll(cx) {
                    Poll::Ready(Err(e)) => tcp_failed = Some(e),
                    other => return other,
                }
            }
            match tcp_failed.take_if(|_| !quic_runs) {
                Some(e) => Poll::Ready(Err(e)),
                None => Poll::Pending,
            }
        })
        .await
    }

    /// A QUIC connection to the origin, on which a session of HTTP/3 is parked.
    pub(super) async fn open_quic(&self, plan: &Plan, deadline: Instant) -> Result<Connection> {
        let opened = self.reach_by_quic(plan, deadline).await?;
        self.note_connected(self.now(), &opened.endpoints);
        self.mark(|info, elapsed| info.app_connect = elapsed);
        self.easy.info.borrow_mut().connects += 1;
        self.note_established(plan);
        self.note_tls(&opened.filter);
        let filter = Box::new(opened.filter);
        let mut connection = Connection::new(plan.identity.clone(), filter, opened.endpoints, self.now());
        connection.state = Some(Box::new(http3::Parked::new(opened.machine)));
        // Where it leads is another handle's word: it is for those who heard it.
        let unasked = plan.identity.pins.is_empty() && self.is_pinned(plan);
        connection.private = self.easy.callbacks.sockets().is_some() || unasked;
        Ok(connection)
    }

    async fn reach_by_quic(&self, plan: &Plan, deadline: Instant) -> Result<Established> {
        let tls = plan.tls_by(Transport::Udp).ok_or_else(|| Error::from(Code::QuicConnectError))?;
        let found = self.look_up(&plan.host, plan.port, &plan.resolve).await?;
        self.mark(|info, elapsed| info.name_lookup = elapsed.max(Duration::from_nanos(1)));
        let local_hosts = match plan.identity.socket.local.host_name() {
            Some(name) => Box::pin(self.local_hosts(name, plan)).await,
            None => Vec::new(),
        };
        let (host, port) = (&*plan.identity.origin.host, plan.identity.origin.port);
        let sessions = self.sessions();
        let unverified = |e: net::NetError| e.with_verify_result(net::tls::verdict::UNSPECIFIED);
        let begin = || sessions.begin(&tls, host, port).map_err(unverified);
        let peer = self.locked(LockData::SslSession, begin)?;
        let request = QuicRequest {
            host,
            port,
            addresses: &found.list,
            local_hosts: &local_hosts,
            options: &plan.identity.socket,
            callbacks: self.easy.callbacks.sockets(),
            tls: &tls,
            sessions: &peer,
            deadline,
            owner: self.easy.owner_number(),
        };
        let opened = connect(self.multi.runtime.reactor(), &request).await;
        self.locked(LockData::SslSession, || peer.settle(opened.is_ok()));
        Ok(opened?)
    }
}
