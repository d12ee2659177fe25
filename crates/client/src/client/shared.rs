//! The state that the clones of a client share with its requests and responses.

use std::sync::Arc;

use engine::Share;
use engine::process_pool::Pool;
use http::HeaderMap;

use super::call::Order;
use super::error::Error;
use super::host::Host;
use super::hub::Hub;
use super::options::Options;

const IN_CHILD: &str = "the client's connections are in the parent process: create a client in the child";

/// Cookies and what else handles share, and the pool of connections.
pub(super) type Stores = (Option<Share>, Option<Pool>);

/// State shared by the clones of a client, its requests and its responses. The driver ends after the last of
/// them.
pub(super) struct Shared {
    pub hub: Arc<Hub>,
    pub options: Options,
    pub headers: HeaderMap,
    /// The share and the pool, for transfers outside the driver.
    #[cfg_attr(not(feature = "download"), expect(dead_code))]
    pub stores: Stores,
    /// The engine, unless the user runs the driver.
    pub host: Option<Arc<Host>>,
}

impl Shared {
    /// Passes a command to the driver. The client's own engine executes it now, unless somebody runs it.
    pub fn order(&self, order: Order) {
        let Some(host) = &self.host else { return self.hub.order(order) };
        if host.is_in_child() {
            return order.refuse(IN_CHILD);
        }
        let starts = matches!(order, Order::Start(..));
        self.hub.order(order);
        if starts {
            host.serve_futures();
        }
        host.run_commands();
    }

    /// Returns why a transfer that was started makes no progress any more.
    pub fn lost(&self) -> Option<Error> {
        let is_lost = self.host.as_ref().is_some_and(|host| host.is_in_child());
        is_lost.then(|| Error::no_driver(IN_CHILD))
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.hub.close();
        self.host.iter().for_each(|host| host.close());
    }
}
