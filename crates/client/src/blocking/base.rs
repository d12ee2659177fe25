//! Creation of clients and sending of requests. rustdoc lists the methods of a type in the order of modules.

use super::{Client, ClientBuilder, Request, RequestBuilder, Response, wait};
#[cfg(feature = "download")]
use super::{Download, Upload};
use crate::Error;
#[cfg(feature = "download")]
use crate::IntoUrl;
use crate::client::config::Config;

impl Client {
    /// Creates a client with the defaults.
    pub fn new() -> Client {
        let config = Config::default().finish().expect("the defaults contradict nothing");
        Client(crate::Client::with_engine(config, false))
    }

    /// Creates a builder for a client with other defaults.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::new()
    }

    /// Uploads a file; see [`warmwire::Client::upload`](crate::Client::upload).
    #[cfg(feature = "download")]
    pub fn upload(&self, url: impl IntoUrl) -> Upload {
        Upload(self.0.upload(url))
    }

    /// Downloads a file; see [`warmwire::Client::download`](crate::Client::download).
    #[cfg(feature = "download")]
    pub fn download(&self, url: impl IntoUrl) -> Download {
        Download(self.0.download(url))
    }

    /// Sends a request and returns the response when its head has been received, whatever its status.
    pub fn execute(&self, request: Request) -> Result<Response, Error> {
        wait(self.0.host(), self.0.execute(request)).map(Response::new)
    }
}

impl ClientBuilder {
    /// Creates a builder with the defaults.
    pub fn new() -> ClientBuilder {
        ClientBuilder::default()
    }

    /// Returns the client, or the first invalid setting.
    pub fn build(self) -> Result<Client, Error> {
        Ok(Client(crate::Client::with_engine(self.config.finish()?, false)))
    }
}

impl RequestBuilder {
    /// Sends the request and returns the response when its head has been received, whatever its status.
    pub fn send(self) -> Result<Response, Error> {
        self.client.execute(self.request?)
    }
}
