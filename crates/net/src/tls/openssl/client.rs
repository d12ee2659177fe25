//! [`Tls`] by the system's OpenSSL.

use std::sync::Arc;

use runtime::Reactor;

use super::PreparedContext;
use super::filter::{OpenSslFilter, SessionAccess, answered};
use crate::tls::handshake::{Server, Stage, Tls, out_of_order};
use crate::tls::{SessionStore, TlsConfig};
use crate::{Filter, LayerError, NetError};

/// A handshake by OpenSSL.
pub struct OpenSslClient {
    /// The clock of a verdict that is put off.
    reactor: Arc<Reactor>,
    kept: Option<SessionAccess>,
    stage: Stage<Box<PreparedContext>, Box<OpenSslFilter>, Box<OpenSslFilter>>,
}

impl Tls for OpenSslClient {
    fn prepare(config: &Arc<TlsConfig>, reactor: &Arc<Reactor>) -> Result<OpenSslClient, NetError> {
        let prepared = Box::new(PreparedContext::new(config)?);
        Ok(OpenSslClient { reactor: reactor.clone(), kept: None, stage: Stage::Prepared(prepared) })
    }

    fn context(&self) -> Option<usize> {
        match &self.stage {
            Stage::Prepared(prepared) => Some(prepared.context.address()),
            _ => None,
        }
    }

    fn take_sessions(&mut self, server: Server<'_>, store: &SessionStore) -> Result<(), NetError> {
        self.kept = Some(SessionAccess::begin(store, server, &self.reactor));
        Ok(())
    }

    async fn begin(&mut self, below: Box<dyn Filter>, _: Server<'_>) -> Result<(), LayerError> {
        let (Stage::Prepared(prepared), Some(kept)) = (self.stage.take(), self.kept.take()) else {
            return Err(LayerError::Final(out_of_order()));
        };
        self.stage = Stage::Answered(answered(below, *prepared, kept).await?);
        Ok(())
    }

    async fn finish(&mut self, _: Server<'_>) -> Result<(), NetError> {
        let Stage::Answered(mut filter) = self.stage.take() else { return Err(out_of_order()) };
        filter.finish().await?;
        self.stage = Stage::Done(filter);
        Ok(())
    }

    /// Keeps what the server gave. A handshake that failed gave nothing.
    fn settle(&mut self, _: bool) {
        if let Stage::Done(filter) = &mut self.stage {
            filter.settle();
        }
    }

    fn into_filter(self) -> Result<Box<dyn Filter>, NetError> {
        match self.stage {
            Stage::Done(filter) => Ok(filter),
            _ => Err(out_of_order()),
        }
    }
}
