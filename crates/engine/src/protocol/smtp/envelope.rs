//! The commands before a message: MAIL, RCPT for each recipient, and DATA (RFC 5321 section 3.3), one after
//! the other or, if the server offers PIPELINING (RFC 2920), together.
//!
//! DATA is sent with them only if no reply to a RCPT can stop the mail to the others: with one recipient, or
//! with CURLOPT_MAIL_RCPT_ALLOWFAILS(3). A server that accepts DATA although no recipient is left gets only a
//! dot (RFC 2920 section 3.1). A chunk (BDAT) is never sent ahead: a server that refuses it without reading
//! it would take the mail for commands.

use tables::Code;
use wire::smtp::Mailbox;

use super::session::Session;
use crate::error::{Error, Result};
use crate::transfer::Transfer;
use crate::transfer::dialogue::succeeded;

/// Maximum number of commands sent before replies are read: both sides' buffers hold that much (RFC 2920
/// section 3.1).
const MOST_TOGETHER: usize = 100;

/// The sender and the recipients.
pub struct Envelope {
    /// MAIL.
    sender: Vec<u8>,
    /// RCPT, each.
    recipients: Vec<Vec<u8>>,
    /// One recipient that is accepted is enough.
    lenient: bool,
}

/// The replies to the recipients.
#[derive(Default)]
struct Verdict {
    accepted: bool,
    refused: Option<u16>,
}

impl Envelope {
    /// Creates an envelope, which begins with the command that names the sender.
    pub fn new(sender: Vec<u8>, recipients: &[Mailbox], lenient: bool) -> Envelope {
        let recipients = recipients.iter().map(|to| [b"RCPT TO:", &to.path()[..]].concat()).collect();
        Envelope { sender, recipients, lenient }
    }

    /// Returns whether DATA may be sent before the replies to the recipients.
    pub fn lets_data_go_ahead(&self) -> bool {
        (self.lenient || self.recipients.len() == 1) && self.recipients.len() < MOST_TOGETHER
    }

    /// Each command waits for its reply.
    pub async fn in_turn(&self, t: &mut Transfer, session: &mut Session) -> Result<()> {
        sender_accepted(session.command(t, &self.sender).await?)?;
        let mut verdict = Verdict::default();
        for recipient in &self.recipients {
            verdict.note(session.command(t, recipient).await?);
            self.judge_one(&verdict)?;
        }
        self.judge_all(&verdict)
    }

    /// Sends all commands together; returns whether DATA was among them and the message is expected.
    pub async fn together(&self, t: &mut Transfer, session: &mut Session) -> Result<bool> {
        let ahead = self.lets_data_go_ahead();
        let mut commands = vec![&self.sender[..]];
        commands.extend(self.recipients.iter().map(|recipient| &recipient[..]));
        commands.extend(ahead.then_some(&b"DATA"[..]));
        let mut verdict = Verdict::default();
        let (mut outcome, mut data) = (Ok(()), None);
        for (group, commands) in commands.chunks(MOST_TOGETHER).enumerate() {
            session.dialogue.send_together(t, commands).await?;
            for at in 0..commands.len() {
                let code = session.reply(t).await?;
                let result = match group * MOST_TOGETHER + at {
                    0 => sender_accepted(code),
                    n if n > self.recipients.len() => {
                        data = Some(code);
                        Ok(())
                    }
                    _ => {
                        verdict.note(code);
                        self.judge_one(&verdict)
                    }
                };
                outcome = outcome.and(result.map_err(|e| (code, e)));
            }
            if outcome.is_err() {
                break;
            }
        }
        let outcome = outcome
            .and_then(|()| self.judge_all(&verdict).map_err(|e| (verdict.refused.unwrap_or_default(), e)));
        if let Err((code, error)) = outcome {
            if data == Some(354) {
                session.command(t, b".").await?;
            }
            // The refusal is reported, whatever the later replies are.
            t.easy.info.borrow_mut().response_code = i64::from(code);
            return Err(error);
        }
        data.map_or(Ok(false), |code| data_accepted(code).map(|()| true))
    }

    fn judge_one(&self, verdict: &Verdict) -> Result<()> {
        match verdict.refused {
            Some(code) if !self.lenient => Err(Error::new(Code::SendError, format!("RCPT failed: {code}"))),
            _ => Ok(()),
        }
    }

    fn judge_all(&self, verdict: &Verdict) -> Result<()> {
        match verdict.refused {
            Some(code) if !verdict.accepted => {
                Err(Error::new(Code::SendError, format!("RCPT failed: {code} (last error)")))
            }
            _ => Ok(()),
        }
    }
}

impl Verdict {
    fn note(&mut self, code: u16) {
        if succeeded(code) {
            self.accepted = true;
        } else {
            self.refused = Some(code);
        }
    }
}

fn sender_accepted(code: u16) -> Result<()> {
    match succeeded(code) {
        true => Ok(()),
        false => Err(Error::new(Code::SendError, format!("MAIL failed: {code}"))),
    }
}

/// Returns whether the reply to DATA accepts the message.
pub fn data_accepted(code: u16) -> Result<()> {
    match code {
        354 => Ok(()),
        _ => Err(Error::new(Code::SendError, format!("DATA failed: {code}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn envelope(recipients: usize, lenient: bool) -> Envelope {
        let all = vec![Mailbox::parse(b"a@x.example"); recipients];
        Envelope::new(b"MAIL FROM:<>".to_vec(), &all, lenient)
    }

    #[test]
    fn data_goes_ahead() {
        let rows = [
            ("RFC 2920 §3.1: one recipient", 1, false, true),
            ("RFC 2920 §3.1: two of whom one may be refused", 2, false, false),
            ("CURLOPT_MAIL_RCPT_ALLOWFAILS(3): some may be refused", 2, true, true),
            ("RFC 2920 §3.1: as many commands as buffers hold", MOST_TOGETHER - 1, true, true),
            ("RFC 2920 §3.1: too many for one write", MOST_TOGETHER, true, false),
        ];
        for (name, recipients, lenient, wanted) in rows {
            assert_eq!(envelope(recipients, lenient).lets_data_go_ahead(), wanted, "{name}");
        }
    }

    #[test]
    fn verdicts() {
        // Replies to the recipients; whether the mail continues after the last of them, and after all.
        let rows: [(_, bool, &[u16], _, _); 6] = [
            ("RFC 5321 §4.1.1.3: accepted", false, &[250, 251], true, true),
            ("RFC 5321 §4.1.1.3: the last one is refused", false, &[250, 550], false, true),
            ("CURLOPT_MAIL_RCPT_ALLOWFAILS(3): one is enough", true, &[550, 250], true, true),
            ("CURLOPT_MAIL_RCPT_ALLOWFAILS(3): none is not", true, &[550, 450], true, false),
            ("RFC 5321 §4.1.1.3: the only one is refused", false, &[550], false, false),
            ("RFC 5321 §4.2.1: 354 accepts nobody", true, &[354], true, false),
        ];
        for (name, lenient, codes, one, all) in rows {
            let envelope = envelope(codes.len(), lenient);
            let mut verdict = Verdict::default();
            codes.iter().for_each(|code| verdict.note(*code));
            let found = (envelope.judge_one(&verdict).is_ok(), envelope.judge_all(&verdict).is_ok());
            assert_eq!(found, (one, all), "{name}");
        }
    }

    #[test]
    fn replies() {
        assert!(sender_accepted(250).is_ok() && sender_accepted(451).is_err(), "RFC 5321 §4.1.1.2");
        assert!(data_accepted(354).is_ok() && data_accepted(250).is_err(), "RFC 5321 §4.1.1.4");
    }
}
