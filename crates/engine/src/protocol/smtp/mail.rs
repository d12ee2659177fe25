//! One mail: its envelope, and the message, with its dots behind DATA (RFC 5321 section 4.5.2) or as one
//! chunk (RFC 3030).

use std::future::poll_fn;

use tables::EasyOption as O;
use wire::smtp::{Mailbox, Stuffer, is_lines};

use super::decide::{self, Sender, is_refusal};
use super::envelope::{Envelope, data_accepted};
use super::session::Session;
use crate::error::Result;
use crate::settings::{Method, SmtpPipelining, Text};
use crate::transfer::Transfer;
use crate::transfer::client_reader::ClientReader;
use crate::transfer::explained::{explain_limits, limits_before};
use crate::transfer::sending::{ReplyListener, send_body, send_piece};
use crate::why::event::{Event, OneByOne};

/// Returns CURLOPT_MAIL_RCPT.
pub fn recipients(t: &Transfer) -> Vec<Text> {
    t.easy.settings.borrow().list(O::MailRcpt).to_vec()
}

/// Sends the mail that the settings ask for.
pub async fn send(t: &mut Transfer, session: &mut Session) -> Result<()> {
    let mut reader = match t.method {
        Method::PostMime => ClientReader::mail(&t.easy)?,
        _ => ClientReader::open(&t.easy, Method::Put)?,
    };
    if t.on(O::Crlf) {
        reader.send_as_text();
    }
    let recipients = recipients(t);
    let from = t.text(O::MailFrom);
    decide::check_addresses(from.iter().chain(&recipients).map(|address| &**address))?;
    let recipients: Vec<Mailbox> = recipients.iter().map(|r| Mailbox::parse(r)).collect();
    let size = decide::declared_size(t.long(O::InFileSizeLarge), t.method == Method::PostMime, reader.size);
    let sender = sender(t, session, size, &recipients);
    let envelope = Envelope::new(sender, &recipients, t.on(O::MailRcptAllowFails));
    let pipelining = t.easy.smtp_pipelining.get().unwrap_or_else(SmtpPipelining::of_process);
    let together = session.pipelines() && pipelining == SmtpPipelining::Together;
    if !together {
        let why = if session.pipelines() { OneByOne::Setting } else { OneByOne::NotOffered };
        t.easy.explain(|| Event::OneByOne(why));
    }
    let begun = match together {
        true => envelope.together(t, session).await?,
        false => envelope.in_turn(t, session).await.map(|()| false)?,
    };
    let pace = t.long(O::MaxSendSpeedLarge);
    if decide::is_one_chunk(session.takes_chunks(), together, begun, reader.size, pace) {
        match read_all(&mut reader).await? {
            mail if is_lines(&mail) => return send_chunk(t, session, mail).await,
            mail => reader = ClientReader::of(&t.easy, mail),
        }
    }
    if !begun {
        data_accepted(session.command(t, b"DATA").await?)?;
    }
    send_message(t, session, &mut reader).await
}

/// Returns the command that names the sender.
fn sender(t: &Transfer, session: &Session, size: Option<u64>, recipients: &[Mailbox]) -> Vec<u8> {
    let from = t.text(O::MailFrom).map(|from| Mailbox::parse(&from));
    let on_behalf = t.text(O::MailAuth).filter(|_| session.is_authenticated());
    let on_behalf = on_behalf.map(|text| Mailbox::parse(&text));
    decide::mail_command(&Sender {
        from: from.as_ref(),
        on_behalf: on_behalf.as_ref(),
        size,
        recipients,
        extensions: session.extensions(),
    })
}

/// Reads all that the application has.
async fn read_all(reader: &mut ClientReader) -> Result<Vec<u8>> {
    let mut all = Vec::new();
    let mut piece = vec![0; 16 * 1024];
    loop {
        let n = poll_fn(|cx| reader.poll_read(cx, &mut piece)).await?;
        all.extend_from_slice(&piece[..n]);
        if n == 0 || reader.ended() {
            return Ok(all);
        }
    }
}

/// BDAT, with the mail behind it (RFC 3030 section 2). As behind DATA, its last line is ended.
async fn send_chunk(t: &mut Transfer, session: &mut Session, mut mail: Vec<u8>) -> Result<()> {
    t.mark(|info, elapsed| info.pre_transfer = elapsed);
    t.easy.info.borrow_mut().upload_total = mail.len() as i64;
    if !mail.is_empty() && !mail.ends_with(b"\r\n") {
        mail.extend_from_slice(b"\r\n");
    }
    session.dialogue.send(t, format!("BDAT {} LAST", mail.len()).as_bytes()).await?;
    let waiting = std::mem::replace(&mut session.dialogue.outstanding, usize::MAX);
    send_piece(t, session.dialogue.whole.connection().filter(), &mail, None).await?;
    session.dialogue.outstanding = waiting;
    t.mark(|info, elapsed| info.post_transfer = elapsed);
    let code = session.reply(t).await?;
    accepted(t, code)
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
    let mut listener = ReplyListener::new(is_refusal);
    let filter = session.dialogue.whole.connection().filter();
    let limits = limits_before(&t.easy, filter.socket());
    let sent = send_body(t, filter, reader, Some(&mut coder), Some(&mut listener)).await;
    let refused = listener.has_enough();
    session.dialogue.put_back(&listener.into_heard());
    if !refused {
        sent?;
        let code = session.reply(t).await?;
        if let Some(before) = limits {
            let socket = session.dialogue.whole.connection().filter().socket();
            explain_limits(&t.easy, before, socket.send_limits());
        }
        return accepted(t, code);
    }
    // A refusal in the middle of it: the rest would be wasted.
    let code = session.reply(t).await?;
    session.dialogue.outstanding = usize::MAX;
    accepted(t, code)
}

/// Handles the reply to a mail, which is the first one that is not the reply to a command.
fn accepted(t: &Transfer, code: u16) -> Result<()> {
    t.note_first_byte();
    decide::check_accepted(code)
}
