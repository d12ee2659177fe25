//! The connector under object_store 0.14, with servers of the test kit and with moto.

extern crate object_store_0_14 as object_store;

mod bodies;
mod failures;
mod guide;
mod options;
mod parquet_files;
mod suite;

use object_store::client::{HttpClient, HttpConnector, HttpRequest, HttpRequestBody};
use object_store::http::{HttpBuilder, HttpStore};
use object_store::{ClientOptions, RetryConfig};
use std::time::Duration;
use warmwire_object_store::WarmwireConnector;

/// Returns options for a server without TLS on loopback.
fn plain() -> ClientOptions {
    ClientOptions::new().with_allow_http(true)
}

/// Returns the client of a store with these options.
fn client(options: &ClientOptions) -> HttpClient {
    WarmwireConnector::new().connect(options).unwrap()
}

/// Returns a store on a server without TLS. It retries after milliseconds.
fn store(url: String) -> HttpStore {
    let mut retry = RetryConfig { max_retries: 2, ..RetryConfig::default() };
    retry.backoff.init_backoff = Duration::from_millis(1);
    let builder = HttpBuilder::new().with_url(url).with_client_options(plain()).with_retry(retry);
    builder.with_http_connector(WarmwireConnector::new()).build().unwrap()
}

/// Returns a request without a body.
fn get(url: &str) -> HttpRequest {
    http::Request::get(url).body(HttpRequestBody::empty()).unwrap()
}
