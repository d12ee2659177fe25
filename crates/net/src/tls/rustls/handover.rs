//! A TLS connection on its way to another process: its keys, counters and parameters as a plain value.
//!
//! The tickets that a server sends later stay unread in the other process, because rustls neither exports its
//! sessions nor the secret that they are derived from.

use std::sync::Arc;

use rustls::CipherSuite;

use super::{MAX_PATIENCE, TlsFilter};
use crate::Filter;
use crate::handover::state::Direction;
use crate::handover::{Obstacle, TlsState};
use crate::tls::key_schedule::Secrets;
use crate::tls::record::KEY_LIMIT;
use crate::tls::{TlsInfo, suites};

impl TlsFilter {
    /// Returns why the layer cannot move in its present state.
    pub(super) fn obstacle(&self) -> Option<Obstacle> {
        let buffered = self.start < self.end
            || self.sent < self.outbox.len()
            || !self.inbox.is_empty()
            || !self.message.is_empty();
        if self.over.is_some() || self.said_goodbye {
            return Some(Obstacle::NotOpen);
        }
        buffered.then_some(Obstacle::Buffered)
    }

    /// Separates the state of the layer from the layers below. It consumes the layer, which then seals no
    /// record under a number that the state continues.
    pub(super) fn into_state(self: Box<Self>) -> (Box<dyn Filter>, TlsState) {
        let [sending, receiving] = self.secrets.bytes();
        let info = self.info.by_now();
        let state = TlsState {
            suite: self.secrets.suite(),
            sending: Direction { secret: sending, sequence: self.tx.used() },
            receiving: Direction { secret: receiving, sequence: self.rx.used() },
            asked_for_keys: self.asked_for_keys,
            group: info.group.to_owned(),
            alpn: info.alpn.clone(),
            exported: info.exported,
            peer_cert: info.peer_cert.as_deref().map(<[u8]>::to_vec),
            resumed: info.resumed,
            early: info.early,
            verify_result: info.verify_result,
            certinfo: info.certinfo.clone(),
        };
        (self.below, state)
    }

    /// Continues a connection from its state. `None` if the state is not one of TLS as it is spoken here.
    pub(crate) fn restore(below: Box<dyn Filter>, state: TlsState) -> Option<Box<dyn Filter>> {
        TlsFilter::restored(below, state).map(|filter| filter as Box<dyn Filter>)
    }

    pub(super) fn restored(below: Box<dyn Filter>, state: TlsState) -> Option<Box<TlsFilter>> {
        let secrets = Secrets::from_bytes(state.suite, [state.sending.secret, state.receiving.secret])?;
        let (tx, rx) = (secrets.key(0, state.sending.sequence)?, secrets.key(1, state.receiving.sequence)?);
        let info = TlsInfo {
            version: if matches!(secrets, Secrets::Tls13(_)) { "TLSv1.3" } else { "TLSv1.2" },
            cipher: suites::name(CipherSuite::from(state.suite)),
            group: suites::known_group(&state.group)?,
            alpn: state.alpn,
            exported: state.exported,
            peer_cert: state.peer_cert.map(Arc::from),
            resumed: state.resumed,
            early: state.early,
            verify_result: state.verify_result,
            certinfo: state.certinfo,
            ..TlsInfo::default()
        };
        Some(Box::new(TlsFilter {
            below,
            rx,
            tx,
            secrets,
            tickets: None,
            info: Arc::new(info),
            inbox: Vec::new(),
            own: Vec::new(),
            start: 0,
            end: 0,
            outbox: Vec::new(),
            sent: 0,
            corked: false,
            message: Vec::new(),
            empty: 0,
            asked_for_keys: state.asked_for_keys,
            key_limit: KEY_LIMIT,
            over: None,
            said_goodbye: false,
            streaming: false,
            patience: MAX_PATIENCE,
            full: false,
        }))
    }
}
