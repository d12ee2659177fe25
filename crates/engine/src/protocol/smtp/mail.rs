//! One mail: MAIL, RCPT for each recipient, DATA, and the message with its dots (RFC 5321 section 3.3).

use tables::{Code, EasyOption as O};
use wire::smtp::{Mailbox, Stuffer};

use super::session::Session;
use crate::error::{Error, Result};
use crate::settings::Method;
use crate::transfer::Transfer;
use crate::transfer::client_reader::ClientReader;
use crate::transfer::sending::send_body;

/// Sends the mail that the settings ask for.
pub async fn send(t: &mut Transfer, session: &mut Session) -> Result<()> {
    let mut reader = match t.method {
        Method::PostMime => ClientReader::mail(&t.easy)?,
        _ => ClientReader::open(&t.easy, Method::Put)?,
    };
    if t.on(O::Crlf) {
        reader.send_as_text();
    }
    let recipients: Vec<Mailbox> = super::recipients(t).iter().map(|r| Mailbox::parse(r)).collect();
    // As the application told it, before line endings are converted.
    let told = u64::try_from(t.long(O::InfilesizeLarge)).ok().filter(|_| t.method != Method::PostMime);
    let sender = sender(t, session, told.or(reader.size), &recipients);
    let code = session.command(t, &sender).await?;
    if code / 100 != 2 {
        return Err(Error::new(Code::SendError, format!("MAIL failed: {code}")));
    }
    name_recipients(t, session, &recipients).await?;
    let code = session.command(t, b"DATA").await?;
    if code != 354 {
        return Err(Error::new(Code::SendError, format!("DATA failed: {code}")));
    }
    send_message(t, session, &mut reader).await
}

/// The command that names the sender; without one it is nobody, as notices of failure have it.
fn sender(t: &Transfer, session: &Session, size: Option<u64>, recipients: &[Mailbox]) -> Vec<u8> {
    let from = t.text(O::MailFrom).map(|from| Mailbox::parse(&from));
    let on_behalf = t.text(O::MailAuth).filter(|_| session.is_authenticated());
    let on_behalf = on_behalf.map(|text| Mailbox::parse(&text));
    let mut line = b"MAIL FROM:".to_vec();
    line.extend_from_slice(&from.as_ref().map_or_else(|| b"<>".to_vec(), Mailbox::path));
    if let Some(author) = &on_behalf {
        let bare = author.bare();
        line.extend_from_slice(&[&b" AUTH="[..], if bare.is_empty() { b"<>" } else { &bare[..] }].concat());
    }
    if let Some(size) = size.filter(|size| *size > 0 && session.takes_size()) {
        line.extend_from_slice(format!(" SIZE={size}").as_bytes());
    }
    let mut named = from.iter().chain(&on_behalf).chain(recipients);
    if session.smtputf8() && named.any(Mailbox::is_international) {
        line.extend_from_slice(b" SMTPUTF8");
    }
    line
}

/// RCPT for each. One that is refused ends it, unless CURLOPT_MAIL_RCPT_ALLOWFAILS(3) says that one accepted is enough.
async fn name_recipients(t: &mut Transfer, session: &mut Session, recipients: &[Mailbox]) -> Result<()> {
    let lenient = t.on(O::MailRcptAllowfails);
    let mut refused = None;
    let mut accepted = false;
    for recipient in recipients {
        let code = session.command(t, &[b"RCPT TO:", &recipient.path()[..]].concat()).await?;
        if code / 100 == 2 {
            accepted = true;
        } else if lenient {
            refused = Some(code);
        } else {
            return Err(Error::new(Code::SendError, format!("RCPT failed: {code}")));
        }
    }
    match refused {
        Some(code) if !accepted => {
            Err(Error::new(Code::SendError, format!("RCPT failed: {code} (last error)")))
        }
        _ => Ok(()),
    }
}

async fn send_message(t: &mut Transfer, session: &mut Session, reader: &mut ClientReader) -> Result<()> {
    t.mark(|info, elapsed| info.pre_transfer = elapsed);
    t.easy.info.borrow_mut().upload_total = reader.size.map_or(-1, |n| n as i64);
    // Until the end is sent, no command would be understood.
    session.dialogue.outstanding += 1;
    let mut stuffer = Stuffer::default();
    let mut coder = |piece: &[u8], last: bool, out: &mut Vec<u8>| {
        stuffer.write(piece, out);
        if last {
            stuffer.end(out);
        }
    };
    send_body(t, session.dialogue.whole.connection().filter.as_mut(), reader, Some(&mut coder)).await?;
    let code = session.reply(t).await?;
    if code != 250 {
        return Err(Error::new(Code::WeirdServerReply, ""));
    }
    Ok(())
}
