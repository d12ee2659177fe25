//! The POP3 server of the cases. Behaviour after the POP3 part of tests/ftpserver.pl of curl's repository.

use std::io;
use std::sync::Arc;

use super::dialogue::{self, Dialogue, Speaker, sasl_line, short_command};
use super::wire::Conn;
use super::{CaseContext, Peer};

pub fn server() -> Arc<dyn Peer> {
    Arc::new(Pop3)
}

struct Pop3;

impl Peer for Pop3 {
    fn serve(&self, conn: &mut Conn, stage: &CaseContext) {
        dialogue::hold(&mut Session, conn, stage);
    }
}

struct Session;

/// MD5 of the timestamp that cases greet with, `<1972.987654321@curl>`, and the password that they use,
/// `secret`.
const APOP_DIGEST: &str = "7501b4cdc224d469940e65e7b5e4d6eb";

impl Speaker for Session {
    fn welcome(&self) -> String {
        dialogue::sign([" "; 5]) + "+OK curl POP3 server ready to serve\r\n"
    }

    fn parse(&mut self, line: &str) -> Option<(String, String)> {
        short_command(line).or_else(|| sasl_line(line))
    }

    fn answer(&mut self, command: &str, argument: &str, talk: &mut Dialogue) -> io::Result<bool> {
        let can = |talk: &Dialogue, name: &str| talk.orders.capabilities.iter().any(|c| c == name);
        match command {
            "CAPA" => capabilities(talk)?,
            "APOP" if !can(talk, "APOP") => talk.say("-ERR Unrecognized command")?,
            "APOP" => match argument.split_once(' ') {
                Some((user, secret)) if !user.is_empty() && secret == APOP_DIGEST => {
                    talk.say("+OK Login successful")?
                }
                Some((user, secret)) if !user.is_empty() && !secret.is_empty() => {
                    talk.say("-ERR Login failure")?
                }
                _ => talk.say("-ERR Protocol error")?,
            },
            "AUTH" if talk.orders.mechanisms.is_empty() => talk.say("-ERR Unrecognized command")?,
            "AUTH" => {
                let list: String = talk.orders.mechanisms.iter().map(|m| format!("{m}\r\n")).collect();
                talk.send(&format!("+OK List of supported mechanisms follows\r\n{list}.\r\n"))?;
            }
            "USER" | "DELE" if argument.is_empty() => talk.say("-ERR Protocol error")?,
            "USER" | "DELE" => talk.say("+OK")?,
            "PASS" => talk.say("+OK Login successful")?,
            "RETR" => mail(argument, talk)?,
            "TOP" if !can(talk, "TOP") => talk.say("-ERR Unrecognized command")?,
            "TOP" => match argument.split_once(' ') {
                Some((message, lines)) if !message.is_empty() && !lines.is_empty() => mail(message, talk)?,
                _ => talk.say("-ERR Protocol error")?,
            },
            "LIST" => listing(talk)?,
            "UIDL" if !can(talk, "UIDL") => talk.say("-ERR Unrecognized command")?,
            "UIDL" => talk.send("+OK Listing starts\r\n1 1\r\n2 2\r\n3 4\r\n.\r\n")?,
            "STAT" | "NOOP" | "RSET" if !argument.is_empty() => talk.say("-ERR Protocol error")?,
            "STAT" => talk.say("+OK 3 4294967800")?,
            "NOOP" | "RSET" => talk.say("+OK")?,
            "QUIT" => talk.say("+OK curl POP3 server signing off")?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn not_understood(&self, _line: &str) -> String {
        "-ERR Unrecognized command\r\n".into()
    }

    fn not_known(&self, command: &str) -> String {
        format!("-ERR {command} is not dealt with!\r\n")
    }
}

fn capabilities(talk: &mut Dialogue) -> io::Result<()> {
    let mut list: Vec<String> = talk.orders.capabilities.iter().filter(|c| *c != "APOP").cloned().collect();
    if !talk.orders.mechanisms.is_empty() {
        list.push(format!("SASL {}", talk.orders.mechanisms.join(" ")));
    }
    if list.is_empty() {
        return talk.say("-ERR Unrecognized command");
    }
    list.push("IMPLEMENTATION POP3 pingpong test server".into());
    talk.send(&format!("+OK List of capabilities follows\r\n{}\r\n.\r\n", list.join("\r\n")))
}

fn mail(message: &str, talk: &mut Dialogue) -> io::Result<()> {
    let data = talk.data(message);
    talk.say("+OK Mail transfer starts")?;
    talk.send_bytes(&data)?;
    talk.say(".")
}

/// The case's data, or a list with a message of more than four gigabytes.
fn listing(talk: &mut Dialogue) -> io::Result<()> {
    let data = talk.data(&talk.stage.number.to_string());
    talk.say("+OK Listing starts")?;
    talk.send_bytes(if data.is_empty() { b"1 100\r\n2 4294967400\r\n3 200\r\n" } else { &data })?;
    talk.say(".")
}
