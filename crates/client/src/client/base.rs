//! Creation of clients and sending of requests. rustdoc lists the methods of a type in the order of modules.

use std::sync::Arc;

use super::config::Config;
use super::driver::Driver;
use super::head::Head;
use super::host::Host;
use super::hub::Hub;
use super::running::Running;
use super::shared::Shared;
use super::{Client, ClientBuilder, Error, Request, RequestBuilder, Response};
#[cfg(feature = "download")]
use crate::IntoUrl;

impl Client {
    /// Creates a client with the defaults.
    pub fn new() -> Client {
        let config = Config::default().finish().expect("the defaults contradict nothing");
        Client::with_engine(config, true)
    }

    /// Creates a builder for a client with other defaults.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::new()
    }

    /// Sends a request and returns the response when its head has been received, whatever its status.
    /// Dropping the future aborts the transfer: the connection is closed, or its stream reset.
    pub async fn execute(&self, request: Request) -> Result<Response, Error> {
        let (head, running) = self.begin(request).await?;
        Ok(Response::new(head, running))
    }

    /// Sends a request and waits for its head.
    pub(super) async fn begin(&self, request: Request) -> Result<(Box<Head>, Running), Error> {
        let (prepared, source) = request.prepare(&self.0)?;
        let mut running = Running::start(self.0.clone(), prepared, source);
        let head = std::future::poll_fn(|cx| running.poll_head(cx)).await?;
        Ok((head, running))
    }

    /// Downloads a file: over several connections, from several places, resumed and verified.
    #[cfg(feature = "download")]
    pub fn download(&self, url: impl IntoUrl) -> crate::Download {
        crate::Download::new(self.0.clone(), url)
    }

    /// Uploads a file by FTP, SFTP or HTTP: after a cut the upload continues where the server says.
    #[cfg(feature = "download")]
    pub fn upload(&self, url: impl IntoUrl) -> crate::Upload {
        crate::Upload::new(self.0.clone(), url)
    }

    /// Returns a builder of a request that was built before.
    pub(crate) fn resume(&self, request: Request) -> RequestBuilder {
        RequestBuilder { client: self.clone(), request: Ok(request) }
    }

    /// Creates a client with an engine of its own. `is_async`: futures will be polled.
    pub(crate) fn with_engine(config: Config, is_async: bool) -> Client {
        let (mut shared, driver) = without_engine(config);
        shared.host = Some(Arc::new(Host::new(shared.hub.clone(), driver, is_async)));
        Client(Arc::new(shared))
    }

    /// Returns the engine that runs here while a thread waits; `None` if the user runs the driver.
    pub(crate) fn host(&self) -> Option<Arc<Host>> {
        self.0.host.clone()
    }
}

impl ClientBuilder {
    /// Creates a builder with the defaults.
    pub fn new() -> ClientBuilder {
        ClientBuilder::default()
    }

    /// Returns the client, or the first invalid setting.
    pub fn build(self) -> Result<Client, Error> {
        Ok(Client::with_engine(self.config.finish()?, true))
    }

    /// Returns the client and its driver, for programs that run the driver themselves. Requests make no
    /// progress until it runs.
    pub fn build_with_driver(self) -> Result<(Client, Driver), Error> {
        let (shared, driver) = without_engine(self.config.finish()?);
        Ok((Client(Arc::new(shared)), driver))
    }
}

/// Returns the state of a client whose engine is elsewhere, and the driver that has it.
fn without_engine(mut config: Config) -> (Shared, Driver) {
    let hub = Arc::<Hub>::default();
    let stores = (config.share.clone(), config.pool);
    let driver = Driver::of(&hub, &mut config);
    let Config { options, headers, .. } = config;
    (Shared { hub, options, headers, stores, host: None }, driver)
}

impl RequestBuilder {
    /// Sends the request and returns the response when its head has been received, whatever its status.
    /// Dropping the future aborts the transfer: the connection is closed, or its stream reset.
    pub async fn send(self) -> Result<Response, Error> {
        self.client.execute(self.request?).await
    }

    /// Returns the client and the request, or the error of the first invalid value.
    pub(super) fn into_parts(self) -> Result<(Client, Request), Error> {
        Ok((self.client, self.request?))
    }
}
