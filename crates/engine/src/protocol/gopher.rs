//! gopher:// and gophers:// (RFC 1436): sends a selector, and reads until the server closes.

use tables::Code;

use crate::error::{Error, Result};
use crate::transfer::Transfer;
use crate::transfer::ask::ask;

/// Fetches one selector.
pub async fn run(t: &mut Transfer) -> Result<()> {
    let line = wire::gopher::request(&t.url.path_and_query())
        .map_err(|_| Error::new(Code::UrlMalformat, "Bad gopher selector, CR or LF not allowed"))?;
    ask(t, &line).await
}
