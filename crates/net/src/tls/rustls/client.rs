//! [`Tls`] by rustls.

use std::sync::Arc;

use runtime::Reactor;

use super::TlsFilter;
use super::drive::{VerifiedFlight, begin};
use super::early::begin_early;
use crate::tls::handshake::{Server, Stage, Tls, out_of_order};
use crate::tls::verdict::UNSPECIFIED as UNVERIFIED;
use crate::tls::{Early, PeerSessions, SessionStore, TlsConfig};
use crate::{Filter, LayerError, NetError};

/// A handshake by rustls.
pub struct RustlsClient {
    sessions: Option<Arc<PeerSessions>>,
    stage: Stage<(), VerifiedFlight, Box<TlsFilter>>,
}

impl Tls for RustlsClient {
    /// Does nothing: what is built from a configuration is kept beside its sessions.
    fn prepare(_: &Arc<TlsConfig>, _: &Arc<Reactor>) -> Result<RustlsClient, NetError> {
        Ok(RustlsClient { sessions: None, stage: Stage::Prepared(()) })
    }

    fn take_sessions(&mut self, server: Server<'_>, store: &SessionStore) -> Result<(), NetError> {
        let taken = store.begin(server);
        self.sessions = Some(taken.map_err(|e| e.with_verify_result(UNVERIFIED))?);
        Ok(())
    }

    fn early(&self, config: &TlsConfig) -> Option<Early> {
        self.sessions.as_ref()?.early(&config.alpn)
    }

    fn begin_early(
        self,
        below: Box<dyn Filter>,
        Server { config, host, port, .. }: Server<'_>,
        early: Early,
    ) -> Result<Box<dyn Filter>, NetError> {
        let sessions = self.sessions.ok_or_else(out_of_order)?;
        Ok(Box::new(begin_early(below, config, (host, port), &sessions, early)?))
    }

    async fn begin(
        &mut self,
        below: Box<dyn Filter>,
        Server { config, host, port, .. }: Server<'_>,
    ) -> Result<(), LayerError> {
        let Some(sessions) = &self.sessions else { return Err(LayerError::Final(out_of_order())) };
        self.stage = Stage::Answered(begin(below, config, (host, port), sessions).await?);
        Ok(())
    }

    async fn finish(&mut self, Server { config, host, port, .. }: Server<'_>) -> Result<(), NetError> {
        let (Stage::Answered(answered), Some(sessions)) = (self.stage.take(), &self.sessions) else {
            return Err(out_of_order());
        };
        self.stage = Stage::Done(answered.finish(config, (host, port), sessions).await?);
        Ok(())
    }

    fn settle(&mut self, finished: bool) {
        if let Some(sessions) = &self.sessions {
            sessions.settle(finished);
        }
    }

    fn into_filter(self) -> Result<Box<dyn Filter>, NetError> {
        match self.stage {
            Stage::Done(filter) => Ok(filter),
            _ => Err(out_of_order()),
        }
    }
}
