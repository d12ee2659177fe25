//! The IMAP server of the cases. Behaviour after the IMAP part of tests/ftpserver.pl of curl's repository.

use std::io;
use std::sync::Arc;

use super::dialogue::{self, Dialogue, Speaker, sasl_line};
use super::wire::Conn;
use super::{CaseContext, Peer};

pub fn server() -> Arc<dyn Peer> {
    Arc::new(Imap)
}

struct Imap;

impl Peer for Imap {
    fn serve(&self, conn: &mut Conn, stage: &CaseContext) {
        dialogue::hold(&mut Session::default(), conn, stage);
    }
}

#[derive(Default)]
struct Session {
    /// The tag of the command being answered.
    tag: String,
    /// The selected mailbox, whose name contains a case number.
    selected: Option<String>,
    deleted: Vec<String>,
}

const SELECTED: &str = "* 172 EXISTS\r\n* 1 RECENT\r\n* OK [UNSEEN 12] Message 12 is first unseen\r\n\
    * OK [UIDVALIDITY 3857529045] UIDs valid\r\n* OK [UIDNEXT 4392] Predicted next UID\r\n\
    * FLAGS (\\Answered \\Flagged \\Deleted \\Seen \\Draft)\r\n\
    * OK [PERMANENTFLAGS (\\Deleted \\Seen \\*)] Limited\r\n";

const NEWS: &str = "* 22 EXPUNGE\r\n* 23 EXISTS\r\n* 3 RECENT\r\n* 14 FETCH (FLAGS (\\Seen \\Deleted))\r\n";

impl Speaker for Session {
    fn welcome(&self) -> String {
        dialogue::sign([" "; 5]) + "* OK curl IMAP server ready to serve\r\n"
    }

    fn parse(&mut self, line: &str) -> Option<(String, String)> {
        let Some((tag, rest)) = line.split_once(' ') else { return sasl_line(line) };
        self.tag = tag.to_owned();
        let (command, argument) = rest.split_once(' ').unwrap_or((rest, ""));
        Some((command.to_owned(), argument.to_owned()))
    }

    fn answer(&mut self, command: &str, argument: &str, talk: &mut Dialogue) -> io::Result<bool> {
        let (first, rest) = argument.split_once(' ').unwrap_or((argument, ""));
        let first = unquoted(first);
        match command {
            "CAPABILITY" => self.capabilities(talk)?,
            "LOGIN" => self.done_if(!first.is_empty(), command, talk)?,
            "SELECT" => self.select(unquoted(argument), talk)?,
            "FETCH" => self.fetch(first, rest, talk)?,
            "APPEND" => self.append(first, rest, talk)?,
            "STORE" => self.store(first, rest, talk)?,
            "LIST" | "LSUB" => self.send_case(
                first,
                if command == "LIST" { "LIST Completed" } else { "LSUB Completed" },
                talk,
            )?,
            "EXAMINE" => self.send_case(unquoted(argument), "[READ-ONLY] EXAMINE completed", talk)?,
            "STATUS" => self.send_case(first, "STATUS completed", talk)?,
            "SEARCH" => self.of_selected(!argument.is_empty(), command, talk)?,
            // the case 1847 counts on the words standing one place further than they should
            "UID" if first == "FETCH" => self.fetch(first, rest, talk)?,
            "UID" => self.of_selected(["COPY", "FETCH", "STORE", "SEARCH"].contains(&first), first, talk)?,
            "CREATE" | "DELETE" => self.done_if(!unquoted(argument).is_empty(), command, talk)?,
            "RENAME" | "COPY" => {
                self.done_if(!first.is_empty() && !unquoted(rest).is_empty(), command, talk)?
            }
            "CHECK" | "CLOSE" | "EXPUNGE" => self.housekeeping(command, talk)?,
            "NOOP" => {
                if argument.is_empty() {
                    talk.send(NEWS)?;
                }
                self.done_if(argument.is_empty(), command, talk)?;
            }
            "LOGOUT" => {
                talk.say("* BYE curl IMAP server signing off")?;
                self.done_if(true, command, talk)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn not_understood(&self, line: &str) -> String {
        format!("{line} BAD Command\r\n")
    }

    fn not_known(&self, command: &str) -> String {
        format!("{} BAD {command} is not dealt with!\r\n", self.tag)
    }
}

impl Session {
    fn tagged(&self, text: &str, talk: &mut Dialogue) -> io::Result<()> {
        talk.say(&format!("{} {text}", self.tag))
    }

    fn done_if(&self, fine: bool, command: &str, talk: &mut Dialogue) -> io::Result<()> {
        let text = if fine { format!("OK {command} completed") } else { "BAD Command Argument".into() };
        self.tagged(&text, talk)
    }

    fn capabilities(&self, talk: &mut Dialogue) -> io::Result<()> {
        if talk.orders.capabilities.is_empty() && talk.orders.mechanisms.is_empty() {
            return self.tagged("BAD Command", talk);
        }
        let mut text = "* CAPABILITY IMAP4".to_owned();
        for capability in &talk.orders.capabilities {
            text += &format!(" {capability}");
        }
        for mechanism in &talk.orders.mechanisms {
            text += &format!(" AUTH={mechanism}");
        }
        talk.say(&(text + " pingpong test server"))?;
        self.tagged("OK CAPABILITY completed", talk)
    }

    fn select(&mut self, mailbox: &str, talk: &mut Dialogue) -> io::Result<()> {
        if mailbox.is_empty() {
            return self.tagged("BAD Command Argument", talk);
        }
        self.selected = Some(mailbox.to_owned());
        talk.send(SELECTED)?;
        self.tagged("OK [READ-WRITE] SELECT completed", talk)
    }

    /// Whether a mailbox is selected; says so where none is.
    fn selected(&self, talk: &mut Dialogue) -> io::Result<Option<String>> {
        if self.selected.is_none() {
            self.tagged("BAD Command received in Invalid state", talk)?;
        }
        Ok(self.selected.clone())
    }

    fn fetch(&self, uid: &str, how: &str, talk: &mut Dialogue) -> io::Result<()> {
        let Some(mailbox) = self.selected(talk)? else { return Ok(()) };
        let data = talk.data(&mailbox);
        talk.say(&format!("* {uid} FETCH ({} {{{}}}", unquoted(how), data.len()))?;
        talk.send_bytes(&data)?;
        if let Some(text) = talk.orders.post_fetch.clone() {
            talk.send(&text)?;
        }
        talk.say(")")?;
        self.tagged("OK FETCH completed", talk)
    }

    fn append(&self, mailbox: &str, rest: &str, talk: &mut Dialogue) -> io::Result<()> {
        let size = rest.rsplit_once('{').and_then(|(_, size)| size.trim_end_matches('}').parse().ok());
        let Some(size) = size.filter(|_: &usize| !mailbox.is_empty()) else {
            return self.tagged("BAD Command Argument", talk);
        };
        talk.say("+ Ready for literal data")?;
        // the literal, and the CRLF that ends the command
        let data = talk.take_until(|pending| (pending.len() >= size + 2).then_some(size + 2));
        talk.store(mailbox, &data[..size.min(data.len())]);
        self.tagged("OK APPEND completed", talk)
    }

    fn store(&mut self, uid: &str, rest: &str, talk: &mut Dialogue) -> io::Result<()> {
        if self.selected(talk)?.is_none() {
            return Ok(());
        }
        let (what, value) = rest.split_once(' ').unwrap_or((rest, ""));
        if uid.is_empty() || what != "+Flags" || value.is_empty() {
            return self.tagged("BAD Command Argument", talk);
        }
        if value == "\\Deleted" {
            self.deleted.push(uid.to_owned());
        }
        talk.say(&format!("* {uid} FETCH (FLAGS (\\Seen {value}))"))?;
        self.tagged("OK STORE completed", talk)
    }

    fn send_case(&self, name: &str, done: &str, talk: &mut Dialogue) -> io::Result<()> {
        if name.is_empty() {
            return self.tagged("BAD Command Argument", talk);
        }
        let data = talk.data(name);
        talk.send_bytes(&data)?;
        self.tagged(&format!("OK {done}"), talk)
    }

    fn of_selected(&self, fine: bool, command: &str, talk: &mut Dialogue) -> io::Result<()> {
        let Some(mailbox) = self.selected(talk)? else { return Ok(()) };
        if fine {
            let data = talk.data(&mailbox);
            talk.send_bytes(&data)?;
        }
        self.done_if(fine, command, talk)
    }

    fn housekeeping(&mut self, command: &str, talk: &mut Dialogue) -> io::Result<()> {
        if self.selected(talk)?.is_none() {
            return Ok(());
        }
        let deleted = if command == "CHECK" { vec![] } else { std::mem::take(&mut self.deleted) };
        if command == "EXPUNGE" {
            let lines: String = deleted.iter().map(|uid| format!("* {uid} EXPUNGE\r\n")).collect();
            talk.send(if lines.is_empty() { "* 172 EXISTS\r\n" } else { &lines })?;
        }
        self.done_if(command != "CLOSE" || !deleted.is_empty(), command, talk)
    }
}

fn unquoted(text: &str) -> &str {
    text.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap_or(text)
}
