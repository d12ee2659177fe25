//! dict:// (RFC 2229): definitions of a word, words that match, or any one command.

use tables::Code;
use tables::version::CURL;

use crate::error::{Error, Result};
use crate::transfer::Transfer;
use crate::transfer::ask::ask;

/// Sends the commands of one URL, the last of which says goodbye.
pub async fn run(t: &mut Transfer) -> Result<()> {
    let commands = wire::dict::request(t.url.path(), &format!("libcurl {CURL}"))
        .map_err(|_| Error::from(Code::UrlMalformat))?;
    ask(t, &commands).await
}
