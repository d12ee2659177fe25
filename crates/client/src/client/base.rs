//! Creation of clients and sending of requests. rustdoc lists the methods of a type in the order of modules.

use std::sync::Arc;

use super::config::Config;
use super::driver::Driver;
use super::head::Head;
use super::hub::{Hub, Shared};
use super::running::Running;
use super::{Client, ClientBuilder, Error, Request, RequestBuilder, Response};
#[cfg(feature = "download")]
use crate::IntoUrl;

impl Client {
    /// Creates a client with the defaults.
    pub fn new() -> Client {
        let config = Config::default().finish().expect("the defaults contradict nothing");
        Client::on_thread(config)
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
    pub(super) async fn begin(&self, request: Request) -> Result<(Head, Running), Error> {
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

    /// Returns a builder of a request that was built before.
    pub(crate) fn resume(&self, request: Request) -> RequestBuilder {
        RequestBuilder { client: self.clone(), request: Ok(request) }
    }

    /// Creates a client whose driver gets its thread with the first request.
    fn on_thread(mut config: Config) -> Client {
        let hub = Arc::<Hub>::default();
        let stores = (config.share.clone(), config.pool);
        let driver = Driver::of(&hub, &mut config);
        let start = Box::new(move || {
            let thread = std::thread::Builder::new().name("warmwire".to_owned());
            thread.spawn(move || driver.run_blocking()).map(drop)
        });
        Client(Arc::new(Shared::new(hub, config, stores, Some(start))))
    }
}

impl ClientBuilder {
    /// Creates a builder with the defaults.
    pub fn new() -> ClientBuilder {
        ClientBuilder::default()
    }

    /// Returns the client, or the first invalid setting. Its driver runs on a thread that starts with the
    /// first request.
    pub fn build(self) -> Result<Client, Error> {
        Ok(Client::on_thread(self.config.finish()?))
    }

    /// Returns the client and its driver, for programs that run the driver themselves. Requests make no
    /// progress until it runs.
    pub fn build_with_driver(self) -> Result<(Client, Driver), Error> {
        let mut config = self.config.finish()?;
        let hub = Arc::<Hub>::default();
        let stores = (config.share.clone(), config.pool);
        let driver = Driver::of(&hub, &mut config);
        Ok((Client(Arc::new(Shared::new(hub, config, stores, None))), driver))
    }
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
