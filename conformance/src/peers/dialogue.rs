//! Common parts of the line-based servers (FTP, IMAP, POP3, SMTP): reading commands, the instructions of
//! `<servercmd>` that replace, count or delay replies, and the pieces of a case that are sent or stored.
//! Behaviour after tests/ftpserver.pl of curl's repository and FILEFORMAT.md.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use super::CaseContext;
use super::wire::{Conn, Got};
use crate::prepro::find;

/// A protocol's part in a dialogue.
pub trait Speaker {
    /// Returns the greeting.
    fn welcome(&self) -> String;
    /// Splits a line into command and argument; `None` for an invalid line, which ends the dialogue.
    fn parse(&mut self, line: &str) -> Option<(String, String)>;
    /// Answers a command; false where it knows none of that name.
    fn answer(&mut self, command: &str, argument: &str, talk: &mut Dialogue) -> io::Result<bool>;
    /// Returns the reply to a line that is not a command.
    fn not_understood(&self, line: &str) -> String;
    /// Returns the reply to an unknown command.
    fn not_known(&self, command: &str) -> String;
}

/// The big sign that every greeting shows; `prefixes` go before its five lines.
pub fn sign(prefixes: [&str; 5]) -> String {
    let lines = [
        "       _   _ ____  _",
        "   ___| | | |  _ \\| |",
        "  / __| | | | |_) | |",
        " | (__| |_| |  _ {| |___",
        "  \\___|\\___/|_| \\_\\_____|",
    ];
    prefixes.iter().zip(lines).map(|(prefix, line)| format!("{prefix}{line}\r\n")).collect()
}

/// Which answer a data connection gets that is never to be made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum NoData {
    Silence,
    Only150,
    Then421,
    Then425,
}

/// The instructions of a case.
#[derive(Default)]
pub struct Orders {
    full_replies: BTreeMap<String, Vec<u8>>,
    replies: BTreeMap<String, Vec<u8>>,
    counts: BTreeMap<String, u32>,
    delays: BTreeMap<String, u64>,
    pub slow_control: bool,
    pub slow_data: bool,
    pub weird_retr: bool,
    pub no_size: bool,
    pub retr_size: Option<i64>,
    pub bad_pasv_address: bool,
    pub no_data: Option<NoData>,
    pub no_save: bool,
    pub capabilities: Vec<String>,
    pub mechanisms: Vec<String>,
    pub stored: Option<String>,
    pub post_fetch: Option<String>,
}

impl Orders {
    pub fn of(stage: &CaseContext) -> Orders {
        let mut orders = Orders::default();
        let script = stage.script_of(stage.number).unwrap_or_default();
        let lines = script.part("reply", "servercmd").map(|p| p.raw_lines().to_vec()).unwrap_or_default();
        for line in lines {
            let line = line.strip_suffix(b"\n").unwrap_or(&line).to_vec();
            orders.read(&String::from_utf8_lossy(&line));
            orders.read_reply(&line);
        }
        orders
    }

    fn read(&mut self, line: &str) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let mut words = rest.split(' ');
        let mut next = || words.next().unwrap_or_default().to_owned();
        match word.trim_end() {
            "COUNT" => drop(self.counts.insert(next(), next().trim().parse().unwrap_or(0))),
            "DELAY" => drop(self.delays.insert(next(), next().trim().parse().unwrap_or(0))),
            "SLOWDOWN" => (self.slow_control, self.slow_data) = (true, true),
            "SLOWDOWNDATA" => self.slow_data = true,
            "RETRWEIRDO" => self.weird_retr = true,
            "RETRNOSIZE" => self.no_size = true,
            "RETRSIZE" => self.retr_size = rest.trim().parse().ok(),
            "PASVBADIP" => self.bad_pasv_address = true,
            "NODATACONN" => self.no_data = Some(NoData::Silence),
            "NODATACONN150" => self.no_data = Some(NoData::Only150),
            "NODATACONN421" => self.no_data = Some(NoData::Then421),
            "NODATACONN425" => self.no_data = Some(NoData::Then425),
            "NOSAVE" => self.no_save = true,
            "CAPA" => self.capabilities = quoted_words(rest),
            "AUTH" => self.mechanisms = rest.split_whitespace().map(str::to_owned).collect(),
            "STOR" => self.stored = Some(rest.to_owned()),
            "POSTFETCH" => self.post_fetch = Some(rest.to_owned()),
            _ => {}
        }
    }

    /// `REPLY [command] text`, the command perhaps with its argument, in quotes.
    fn read_reply(&mut self, line: &[u8]) {
        let (rest, end): (_, &[u8]) = if let Some(rest) = line.strip_prefix(b"REPLY ") {
            (rest, b"\r\n")
        } else if let Some(rest) = line.strip_prefix(b"REPLYLF ") {
            (rest, b"\n")
        } else {
            return;
        };
        let quoted = rest.strip_prefix(b"\"").and_then(|r| Some((r, find(r, b"\" ")?)));
        let (map, name, text) = match quoted {
            Some((rest, at)) => (&mut self.full_replies, &rest[..at], &rest[at + 2..]),
            None => {
                let Some(at) = rest.iter().position(|&b| b == b' ') else { return };
                (&mut self.replies, &rest[..at], &rest[at + 1..])
            }
        };
        let mut text = unescaped(text);
        if !(name == b"welcome" && text.ends_with(b"\r\n")) {
            text.extend_from_slice(end);
        }
        map.insert(String::from_utf8_lossy(name).into_owned(), text);
    }

    /// Returns the case's reply to this command, if it replaces the server's own.
    fn replacement(&mut self, command: &str, argument: &str) -> Option<Vec<u8>> {
        let whole = if argument.is_empty() { command.to_owned() } else { format!("{command} {argument}") };
        if let Some(text) = self.full_replies.get(&whole) {
            return Some(text.clone());
        }
        let text = self.replies.get(command)?.clone();
        if let Some(left) = self.counts.get_mut(command) {
            *left = left.saturating_sub(1);
            if *left == 0 {
                self.replies.remove(command);
            }
        }
        Some(text)
    }
}

/// A conversation in lines.
pub struct Dialogue<'a> {
    pub conn: &'a mut Conn,
    pub stage: &'a CaseContext,
    pub orders: Orders,
    /// Received and not yet consumed.
    pending: Vec<u8>,
}

/// A command longer than this is cut off.
const LONGEST_LINE: usize = 1_000_000;

/// Between bytes when the case asks for slowness.
const SLOW: Duration = Duration::from_millis(10);

/// Plays a speaker on a connection until it ends.
pub fn hold(speaker: &mut dyn Speaker, conn: &mut Conn, stage: &CaseContext) {
    let mut talk = Dialogue { conn, stage, orders: Orders::of(stage), pending: vec![] };
    let _ = talk.hold(speaker);
}

impl Dialogue<'_> {
    fn hold(&mut self, speaker: &mut dyn Speaker) -> io::Result<()> {
        match self.orders.replies.remove("welcome") {
            Some(text) => self.send_bytes(&text)?,
            None => self.send(&speaker.welcome())?,
        }
        while let Some(line) = self.line() {
            let text = String::from_utf8_lossy(&line).into_owned();
            let Some((command, argument)) = speaker.parse(&text) else {
                return self.send(&speaker.not_understood(&text));
            };
            if let Some(seconds) = self.orders.delays.get(&command) {
                self.stage.sleep(Duration::from_secs(*seconds));
            }
            if let Some(text) = self.orders.replacement(&command, &argument) {
                self.send_bytes(&text)?;
            } else if !speaker.answer(&command.to_ascii_uppercase(), &argument, self)? {
                self.send(&speaker.not_known(&command))?;
            }
        }
        Ok(())
    }

    /// Returns the next line without its CRLF; consumed bytes go to the log that is compared with the case's
    /// protocol part.
    fn line(&mut self) -> Option<Vec<u8>> {
        loop {
            if let Some(end) = find(&self.pending, b"\r\n") {
                let line: Vec<u8> = self.pending.drain(..end + 2).collect();
                self.stage.server_input.append(&line);
                return Some(line[..end].to_vec());
            }
            if self.pending.len() > LONGEST_LINE || !self.receive() {
                self.stage.server_input.append(&std::mem::take(&mut self.pending));
                return None;
            }
        }
    }

    /// Reads more; false at the end.
    fn receive(&mut self) -> bool {
        let mut buffer = [0; 65_536];
        match self.conn.read(&mut buffer, self.stage) {
            Got::Closed => false,
            Got::Data(n) => {
                self.pending.extend_from_slice(&buffer[..n]);
                true
            }
        }
    }

    /// Reads data until `done` returns its length, or the end is reached.
    pub fn take_until(&mut self, done: impl Fn(&[u8]) -> Option<usize>) -> Vec<u8> {
        loop {
            if let Some(end) = done(&self.pending) {
                return self.pending.drain(..end.min(self.pending.len())).collect();
            }
            if !self.receive() {
                return std::mem::take(&mut self.pending);
            }
        }
    }

    pub fn send(&mut self, text: &str) -> io::Result<()> {
        self.send_bytes(text.as_bytes())
    }

    pub fn send_bytes(&mut self, text: &[u8]) -> io::Result<()> {
        if !self.orders.slow_control {
            return self.conn.write(text, self.stage);
        }
        for byte in text {
            self.conn.write(&[*byte], self.stage)?;
            std::thread::sleep(SLOW);
        }
        Ok(())
    }

    /// Sends a line with its CRLF.
    pub fn say(&mut self, line: &str) -> io::Result<()> {
        self.send(&format!("{line}\r\n"))
    }

    /// Returns the reply data of the case whose number, optionally with a part, is in the text.
    pub fn data(&self, name: &str) -> Vec<u8> {
        case_data(self.stage, name)
    }

    /// Stores an upload where the case looks for it.
    pub fn store(&self, name: &str, data: &[u8]) {
        store(self.stage, name, data, self.orders.no_save);
    }
}

/// Returns the reply data of the case whose number, optionally with a part, is in the text.
pub fn case_data(stage: &CaseContext, name: &str) -> Vec<u8> {
    let digits = &name[name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len())..];
    let digits: String = digits.chars().take_while(char::is_ascii_digit).collect();
    let number = digits.parse().unwrap_or(0);
    let (number, part) = if number > 10_000 { (number / 10_000, number % 10_000) } else { (number, 0) };
    let Some(script) = stage.script_of(number) else { return vec![] };
    if part > 0 && script.filled("reply", &format!("data{part}")).is_some() {
        return script.reply(&format!("data{part}"));
    }
    script.reply("data")
}

/// Stores an upload where the case looks for it, or only its size.
pub fn store(stage: &CaseContext, name: &str, data: &[u8], only_size: bool) {
    let name: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || "._-".contains(*c)).collect();
    let path = stage.log.join(format!("upload.{name}"));
    let size = format!("{} bytes would've been stored here\n", data.len());
    let _ = std::fs::write(path, if only_size { size.as_bytes() } else { data });
}

/// Command words of three or four letters, as FTP, POP3 and SMTP have them.
pub fn short_command(line: &str) -> Option<(String, String)> {
    let (word, rest) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    let fits = (3..=4).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_alphabetic());
    fits.then(|| (word.to_owned(), rest.to_owned()))
}

/// Parses a line of an authentication exchange: base64, or the `*` that cancels it.
pub fn sasl_line(line: &str) -> Option<(String, String)> {
    let body = line.trim_end_matches('=');
    let coded = body.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'+' || b == b'/');
    (line == "*" || coded && line.len() - body.len() <= 2).then(|| (line.to_owned(), String::new()))
}

/// Splits words at blanks; quotes protect blanks.
fn quoted_words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in text.trim().chars() {
        match c {
            '"' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().expect("never empty").push(c),
        }
    }
    words.retain(|w| !w.is_empty());
    words
}

/// Undoes the escapes that a Perl string would.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut out = vec![];
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        let (true, Some((&code, after))) = (byte == b'\\', rest.split_first()) else {
            out.push(byte);
            continue;
        };
        rest = after;
        match code {
            b'r' => out.push(b'\r'),
            b'n' => out.push(b'\n'),
            b't' => out.push(b'\t'),
            b'0' => out.push(0),
            b'x' => {
                let digits = rest.iter().take(2).take_while(|b| b.is_ascii_hexdigit()).count();
                let text = std::str::from_utf8(&rest[..digits]).unwrap_or_default();
                out.push(u8::from_str_radix(text, 16).unwrap_or(0));
                rest = &rest[digits..];
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Script;

    fn orders(commands: &str) -> Orders {
        let stage = CaseContext::new(7, "/nonexistent".into(), "/nonexistent".into(), false);
        let text = format!("<reply>\n<servercmd>\n{commands}</servercmd>\n</reply>\n");
        stage.set_script(Script::parse(text.as_bytes()).unwrap());
        Orders::of(&stage)
    }

    #[test]
    fn replies_are_replaced_and_counted() {
        let mut orders = orders(
            "REPLY CWD 550 no\\x00\\r\\nway\nCOUNT CWD 1\nREPLY \"AUTH PLAIN\" 334 go\nREPLY  235 ok\n",
        );
        assert_eq!(orders.replacement("CWD", "x").unwrap(), b"550 no\0\r\nway\r\n");
        assert_eq!(orders.replacement("CWD", "x"), None);
        assert_eq!(orders.replacement("AUTH", "PLAIN").unwrap(), b"334 go\r\n");
        assert_eq!(orders.replacement("AUTH", "NTLM"), None);
        assert_eq!(orders.replacement("", "").unwrap(), b"235 ok\r\n");
    }

    #[test]
    fn capabilities_may_hold_blanks() {
        assert_eq!(orders("CAPA \"SIZE 32\" TOP\n").capabilities, ["SIZE 32", "TOP"]);
        assert_eq!(orders("AUTH PLAIN LOGIN\n").mechanisms, ["PLAIN", "LOGIN"]);
    }

    #[test]
    fn lines_are_parted() {
        assert_eq!(short_command("RETR 7 x").unwrap(), ("RETR".into(), "7 x".into()));
        assert!(short_command("TOOLONG").is_none());
        assert!(sasl_line("*").is_some() && sasl_line("").is_some() && sasl_line("AQ==").is_some());
        assert!(sasl_line("no way").is_none());
    }
}
