//! SMTP (RFC 5321, with RFC 1870, 3207, 4954 and 6531): a mail, or one query command. `session` reads the
//! greeting, upgrades to TLS and logs in; `envelope` sends sender and recipients, `mail` the message.

mod decide;
mod envelope;
mod mail;
mod session;

use tables::{Code, EasyOption as O};

use crate::error::{Error, Result};
use crate::transfer::Transfer;
use crate::transfer::mail_commands;
use crate::transfer::replay::with_retries;
use crate::transfer::sasl::check_login;
use mail::recipients;
use session::Session;
pub use session::decode_memory;

/// Runs one request.
pub async fn run(t: &mut Transfer) -> Result<()> {
    let name = check(t)?;
    with_retries(t, 1, async |t, fresh| {
        let mut session = Session::open(t, &name, fresh).await?;
        t.flow.writer.begin();
        let outcome = match sends_mail(t) {
            true => mail::send(t, &mut session).await,
            false => command(t, &mut session).await,
        };
        session.end(t, outcome.is_ok());
        outcome
    })
    .await
}

/// Opens a new connection, logs in and leaves it in the pool.
pub async fn log_in(t: &mut Transfer) -> Result<()> {
    let name = check(t)?;
    let whole = Session::open(t, &name, true).await?.into_whole();
    t.release(whole);
    Ok(())
}

/// Returns a connection, logged in, for the application itself, which also says goodbye.
pub async fn connect_only(t: &mut Transfer) -> Result<net::Connection> {
    let name = check(t)?;
    let mut whole = Session::open(t, &name, false).await?.into_whole();
    whole.connection().farewell.clear();
    Ok(whole.into_connection())
}

/// Checks what can be refused before connecting. Returns this client's name: the URL's path, or the host's
/// name.
fn check(t: &Transfer) -> Result<Vec<u8>> {
    check_login(t, None)?;
    own_command(t)?;
    decide::client_name(t.url.path(), runtime::host_name)
}

/// Returns CURLOPT_CUSTOMREQUEST(3).
fn own_command(t: &Transfer) -> Result<Option<Vec<u8>>> {
    mail_commands::own_command(t.text(O::CustomRequest).as_deref())
}

fn sends_mail(t: &Transfer) -> bool {
    decide::sends_mail(t.on(O::Upload), t.method, !recipients(t).is_empty())
}

/// VRFY for each recipient, the application's own command, or HELP.
async fn command(t: &mut Transfer, session: &mut Session) -> Result<()> {
    let own = own_command(t)?;
    let recipients = recipients(t);
    if recipients.is_empty() {
        return ask(t, session, &own.unwrap_or_else(|| b"HELP".to_vec())).await;
    }
    for recipient in &recipients {
        let line = decide::question(own.as_deref(), recipient, session.smtputf8());
        ask(t, session, &line).await?;
    }
    Ok(())
}

/// Sends a command whose reply is the document. Only its last line shows whether it is one: earlier lines
/// have been delivered by then, as in curl.
async fn ask(t: &mut Transfer, session: &mut Session, line: &[u8]) -> Result<()> {
    session.dialogue.send(t, line).await?;
    t.mark(|info, elapsed| info.pre_transfer = elapsed);
    let shown = !t.on(O::NoBody);
    let mut lines = Vec::new();
    let reply = session::read(t, &mut session.dialogue, |line| lines.push(line.to_vec())).await?;
    let succeeded = decide::is_document(reply, !recipients(t).is_empty());
    t.note_first_byte();
    let last = lines.pop().filter(|_| succeeded);
    lines.iter().chain(&last).filter(|_| shown).try_for_each(|line| t.flow.writer.body(line))?;
    match succeeded {
        true => Ok(()),
        false => Err(Error::new(Code::WeirdServerReply, format!("Command failed: {reply}"))),
    }
}
