//! The SMTP server of the cases. Behaviour after the SMTP part of tests/ftpserver.pl of curl's repository.

use std::io;
use std::sync::Arc;

use super::dialogue::{self, Dialogue, Speaker, sasl_line, short_command};
use super::wire::Conn;
use super::{CaseContext, Peer};
use crate::prepro::find;

pub fn server() -> Arc<dyn Peer> {
    Arc::new(Smtp)
}

struct Smtp;

impl Peer for Smtp {
    fn serve(&self, conn: &mut Conn, stage: &CaseContext) {
        dialogue::hold(&mut Session { kind: "SMTP", client: String::new() }, conn, stage);
    }
}

struct Session {
    kind: &'static str,
    /// The client's name in EHLO; cases put their number there.
    client: String,
}

impl Speaker for Session {
    fn welcome(&self) -> String {
        dialogue::sign(["220- ", "220- ", "220- ", "220- ", "220  "])
    }

    fn parse(&mut self, line: &str) -> Option<(String, String)> {
        short_command(line).or_else(|| sasl_line(line))
    }

    fn answer(&mut self, command: &str, argument: &str, talk: &mut Dialogue) -> io::Result<bool> {
        match command {
            "EHLO" | "HELO" => self.hello(command, argument, talk)?,
            "MAIL" => mail(argument, talk)?,
            "RCPT" => recipient(argument, talk)?,
            "DATA" => self.data(argument, talk)?,
            "NOOP" | "RSET" if !argument.is_empty() => talk.say("501 Unrecognized parameter")?,
            "NOOP" => talk.say("250 OK")?,
            "RSET" => talk.say("250 Resetting")?,
            "HELP" => help(talk)?,
            "VRFY" => self.verify(argument, talk)?,
            "EXPN" if argument.is_empty() => talk.say("501 Unrecognized parameter")?,
            "EXPN" => {
                let data = talk.data(&self.client);
                talk.send_bytes(&data)?;
            }
            "QUIT" => talk.say(&format!("221 curl {} server signing off", self.kind))?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn not_understood(&self, _line: &str) -> String {
        "500 Unrecognized command\r\n".into()
    }

    fn not_known(&self, command: &str) -> String {
        format!("500 {command} is not dealt with!\r\n")
    }
}

impl Session {
    fn hello(&mut self, command: &str, client: &str, talk: &mut Dialogue) -> io::Result<()> {
        self.client = if client.is_empty() { "[127.0.0.1]" } else { client }.to_owned();
        self.kind = if command == "EHLO" { "ESMTP" } else { "SMTP" };
        let mut lines = vec![format!("{} pingpong test server Hello {}", self.kind, self.client)];
        if command == "EHLO" {
            lines.extend(talk.orders.capabilities.iter().cloned());
            if !talk.orders.mechanisms.is_empty() {
                lines.push(format!("AUTH {}", talk.orders.mechanisms.join(" ")));
            }
        }
        let last = lines.len() - 1;
        let text: String = lines
            .iter()
            .enumerate()
            .map(|(at, l)| format!("250{}{l}\r\n", if at < last { '-' } else { ' ' }))
            .collect();
        talk.send(&text)
    }

    /// Stores the mail as received, including its end mark and stuffed dots.
    fn data(&self, argument: &str, talk: &mut Dialogue) -> io::Result<()> {
        if !argument.is_empty() {
            return talk.say("501 Unrecognized parameter");
        }
        if !self.client.bytes().all(|b| b.is_ascii_digit()) {
            return talk.say("501 Invalid arguments");
        }
        talk.say("354 Show me the mail")?;
        let data = talk.take_until(|pending| {
            if pending.starts_with(b".\r\n") {
                return Some(3);
            }
            find(pending, b"\r\n.\r\n").map(|at| at + 5)
        });
        talk.store(&self.client, &data);
        talk.say("250 OK, data received!")
    }

    fn verify(&self, argument: &str, talk: &mut Dialogue) -> io::Result<()> {
        let name = argument.split(' ').next().unwrap_or_default();
        if name.is_empty() {
            return talk.say("501 Unrecognized parameter");
        }
        let wide = takes_utf8(talk);
        let (local, domain) = name.split_once('@').map_or((name, None), |(l, d)| (l, Some(d)));
        if !is_local_part(local, wide) || !domain.is_none_or(|d| is_domain(d, wide)) {
            return talk.say("501 Invalid address");
        }
        let data = talk.data(&self.client);
        if !data.is_empty() {
            return talk.send_bytes(&data);
        }
        let whole = if domain.is_some() { name.to_owned() } else { format!("{name}@example.com") };
        talk.say(&format!("250 <{whole}>"))
    }
}

fn mail(argument: &str, talk: &mut Dialogue) -> io::Result<()> {
    if argument.is_empty() {
        return talk.say("501 Unrecognized parameter");
    }
    let value = |name: &str| argument.split(' ').find_map(|word| word.strip_prefix(name));
    let wide = takes_utf8(talk) && argument.split(' ').any(|word| word == "SMTPUTF8");
    if !value("FROM:").is_some_and(|from| from == "<>" || is_mailbox(from, wide)) {
        return talk.say("501 Invalid address");
    }
    let size = value("SIZE=").and_then(|s| s.parse::<u64>().ok());
    let most = talk.orders.capabilities.iter().find_map(|c| c.strip_prefix("SIZE ")?.parse::<u64>().ok());
    match (size, most) {
        (Some(size), Some(most)) if size > most => talk.say("552 Message size too large"),
        _ => talk.say("250 Sender OK"),
    }
}

fn recipient(argument: &str, talk: &mut Dialogue) -> io::Result<()> {
    let wide = takes_utf8(talk);
    match argument.strip_prefix("TO:") {
        None => talk.say("501 Unrecognized parameter"),
        Some(to) if is_mailbox(to, wide) => talk.say("250 Recipient OK"),
        Some(_) => talk.say("501 Invalid address"),
    }
}

fn help(talk: &mut Dialogue) -> io::Result<()> {
    let auth = if talk.orders.mechanisms.is_empty() { "" } else { " AUTH" };
    talk.send(&format!(
        "214-This server supports the following commands:\r\n\
         214 HELO EHLO RCPT DATA RSET MAIL VRFY EXPN QUIT HELP{auth}\r\n"
    ))
}

fn takes_utf8(talk: &Dialogue) -> bool {
    talk.orders.capabilities.iter().any(|c| c == "SMTPUTF8")
}

/// `<local@domain>`.
fn is_mailbox(text: &str, wide: bool) -> bool {
    let inner = text.strip_prefix('<').and_then(|t| t.strip_suffix('>'));
    inner
        .and_then(|t| t.split_once('@'))
        .is_some_and(|(local, domain)| is_local_part(local, wide) && is_domain(domain, wide))
}

fn is_local_part(text: &str, wide: bool) -> bool {
    !text.is_empty()
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "._%+-".contains(c) || (wide && !c.is_ascii()))
}

/// Labels, the last of two to four letters.
fn is_domain(text: &str, wide: bool) -> bool {
    let Some((labels, last)) = text.rsplit_once('.') else { return false };
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || (wide && !c.is_ascii());
    labels.split('.').all(|label| !label.is_empty() && label.chars().all(fits))
        && (2..=4).contains(&last.len())
        && last.bytes().all(|b| b.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        assert!(is_mailbox("<a.b@example.com>", false));
        assert!(!is_mailbox("a.b@example.com", false));
        assert!(!is_mailbox("<a b@example.com>", false));
        assert!(!is_mailbox("<a@localhost>", false));
        assert!(is_mailbox("<\u{e5}@\u{e5}x.org>", true) && !is_mailbox("<\u{e5}@x.org>", false));
    }
}
