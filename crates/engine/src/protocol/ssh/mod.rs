//! SFTP and SCP (the crate `ssh` has the protocols). `login` leads from a connected socket to a logged-in
//! session, judging the server's key (`host`) and authenticating (`keys`). A transfer has a channel of that
//! session. `channel` runs SFTP on it; `sftp` handles one URL in the order of its requests, with `quote` for
//! commands, `list` for directories, `download` and `upload` for files; `scp` is the other protocol, with one
//! command per file.

mod channel;
mod download;
mod fault;
mod host;
mod keys;
mod list;
mod login;
mod path;
mod quote;
mod scp;
mod sftp;
mod upload;

use runtime::boxed;
use tables::{Code, EasyOption as O, Scheme};

use crate::error::{Error, Result, Retry};
use crate::transfer::Transfer;
use crate::transfer::link::Link;
use crate::transfer::replay::with_retries;
use crate::why::event::CloseReason;

/// So many channels may be refused to one transfer, each on a connection that others use as well.
const MAX_REFUSED: usize = 32;

/// Runs one request.
pub async fn run(t: &mut Transfer) -> Result<()> {
    with_retries(t, 1, async |t, fresh| {
        let mut refused = 0;
        loop {
            let link = connect(t, fresh).await?;
            let reused = link.lease.is_reused();
            if t.on(O::ForbidReuse) {
                t.explain_closing(link.lease.about(), || CloseReason::Forbidden);
            }
            let mut slot = link.lease.channel_slot().ok_or_else(|| Error::from(Code::FailedInit))?;
            if t.on(O::ForbidReuse) {
                slot.retire();
            }
            t.flow.writer.begin();
            let outcome = match t.scheme() {
                Scheme::Scp => scp::run(t, slot).await,
                _ => sftp::run(t, slot).await,
            };
            match outcome {
                // The server accepts no more channels here: use another connection, or a freed channel.
                Err(e) if e.retry().is_allowed() && e.code() == Code::FailedInit && refused < MAX_REFUSED => {
                    refused += 1
                }
                // Only a kept connection may have been closed while it was idle.
                outcome => return outcome.map_err(|e| if reused { e } else { e.with_retry(Retry::Unknown) }),
            }
        }
    })
    .await
}

/// Opens a logged-in connection for the application itself.
pub async fn connect_only(t: &mut Transfer) -> Result<net::Connection> {
    Ok(connect(t, false).await?.into_whole()?.into_connection())
}

/// Opens a connection; SSH connections in the pool are always logged in.
async fn connect(t: &mut Transfer, fresh: bool) -> Result<Link> {
    t.log_in = Some(|t, plan, connection| boxed(|| login::log_in(t, plan, connection)));
    t.connect(fresh).await
}
