//! Reads a part of an object on an HTTP server, by the crate object_store.

use object_store::http::HttpBuilder;
use object_store::{ClientOptions, ObjectStoreExt, path::Path};
use warmwire_object_store::WarmwireConnector;

/// Returns the first four bytes of an object on a server without TLS.
pub async fn beginning(server: &str, object: &str) -> object_store::Result<Vec<u8>> {
    let store = HttpBuilder::new()
        .with_url(server)
        .with_client_options(ClientOptions::new().with_allow_http(true))
        .with_http_connector(WarmwireConnector::new())
        .build()?;
    Ok(store.get_range(&Path::from(object), 0..4).await?.into())
}
