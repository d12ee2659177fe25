//! Connections by QUIC without the feature `http3`: planning refuses them, or falls back to TCP.

use net::AnyConnection;
use net::connect::Endpoints;
use net::filter::udp_tunnel;
use net::quic::Purpose;
use tables::Code;

use super::Connector;
use super::connect::Opening;
use super::proxy::Proxy;
use super::route::plan::Plan;
use crate::error::{Error, Result};
use crate::settings::WITHOUT_HTTP3;

impl Connector {
    /// Opens a connection by TCP.
    pub(super) async fn open_either(&self, plan: &Plan, opening: &Opening) -> Result<AnyConnection> {
        self.open_tcp(plan, opening).await
    }

    /// Fails.
    pub(super) async fn open_quic(&self, _: &Plan, _: &Opening) -> Result<AnyConnection> {
        Err(Error::new(Code::NotBuiltIn, WITHOUT_HTTP3))
    }

    /// Fails.
    pub(super) async fn reach_proxy_by_quic(
        &self,
        _: &Plan,
        _: &Proxy,
        _: Purpose,
        _: &Opening,
    ) -> Result<(udp_tunnel::Through, Endpoints, bool)> {
        Err(Error::new(Code::NotBuiltIn, WITHOUT_HTTP3))
    }
}
