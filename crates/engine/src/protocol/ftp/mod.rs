//! FTP (RFC 959, with RFC 2228, 2389, 2428, 3659 and 4217): fetches or stores one URL, in the order of its
//! commands. `control` is the control connection with login and directory, `data` opens data connections,
//! `body` fetches files and listings, `upload` stores files, `wildcard` fetches the files that match a
//! pattern.

mod ahead;
mod ask_ahead;
mod body;
mod control;
mod data;
mod decide;
mod flight;
mod ftp_target;
mod idle;
mod pipeline;
mod port;
mod range;
mod recorded;
mod repeated;
mod servers;
mod session;
mod source;
mod timed;
mod upload;
mod wildcard;

use runtime::boxed;
use tables::EasyOption as O;

use crate::error::{Error, Result};
use crate::transfer::Transfer;
use crate::transfer::replay::with_retries;
use control::Control;
use ftp_target::{FtpTarget, uploads};
pub use session::decode_memory;

/// Runs one request.
pub async fn run(t: &mut Transfer) -> Result<()> {
    // Pipelined commands were the cause if a retry without them succeeds.
    let mut suspicion = None;
    with_retries(t, 1, async |t, fresh| {
        let mut control = Control::open(t, fresh, !fresh).await?;
        let outcome = exchange(t, &mut control, !fresh).await;
        match &outcome {
            // The server closed an idle kept connection, or did not accept the commands.
            Err(e) if e.retry().is_allowed() && !fresh => {
                suspicion = (control.session.moved > 0)
                    .then_some(control.dialogue.lines > control.dialogue.last_words);
                return outcome;
            }
            Err(_) => {}
            Ok(()) => {
                control.judge(t, suspicion);
                control.ask_ahead(t).await;
            }
        }
        let failure = outcome.as_ref().err().map(Error::code);
        if failure.is_none_or(decide::body::is_harmless) && control.end_flight(t).await.is_err() {
            control.lost = true;
        }
        control.end(t, outcome.as_ref().err());
        outcome
    })
    .await
}

/// Opens a control connection, logs in and leaves it in the pool.
pub async fn log_in(t: &mut Transfer) -> Result<()> {
    let control = Control::open(t, true, false).await?;
    control.end(t, None);
    Ok(())
}

/// Opens a control connection, logged in, for the application's use.
pub async fn connect_only(t: &mut Transfer) -> Result<net::Connection> {
    let mut control = Control::open(t, false, false).await?;
    control.dialogue.whole.connection().farewell.clear();
    Ok(control.dialogue.whole.into_connection())
}

async fn exchange(t: &mut Transfer, control: &mut Control, together: bool) -> Result<()> {
    t.flow.writer.begin();
    let target = &FtpTarget::of(t)?;
    if together && control.dialogue.whole.is_reused() {
        control.send_flight(t, target, false).await?;
    }
    control.quote(t, O::Quote).await?;
    control.change_directory(t, target).await?;
    if let Some(pattern) = &target.pattern {
        return wildcard::fetch(t, control, target, pattern).await;
    }
    transfer_file(t, control, target).await
}

/// Transfers one file or directory from the current directory.
async fn transfer_file(t: &mut Transfer, control: &mut Control, target: &FtpTarget) -> Result<()> {
    if control.document_wanted(t, target).await? {
        if t.on(O::NoBody) {
            body::describe(t, control, target).await?;
            if t.easy.repeated.get().is_some() {
                boxed(|| repeated::repeat(t, control, target)).await?;
            }
        } else if uploads(t) {
            upload::store(t, control, target).await?;
        } else if target.list {
            body::list(t, control, target).await?;
        } else {
            retrieve(t, control, target).await?;
        }
    }
    control.quote(t, O::PostQuote).await
}

async fn retrieve(t: &mut Transfer, control: &mut Control, target: &FtpTarget) -> Result<()> {
    match pipeline::suits(t, control, target) {
        true => pipeline::retrieve(t, control, target).await,
        false => body::retrieve(t, control, target).await,
    }
}
