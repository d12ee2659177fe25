//! Reports about a mailbox: the lines of an IMAP server during SELECT and IDLE (RFC 9051 section 6.3.13).

/// Longest line.
const LIMIT: usize = 1 << 16;

/// The numbers of a mailbox that SELECT reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Numbers {
    exists: Option<u64>,
    uid_next: Option<u64>,
    uid_validity: Option<u64>,
}

/// A report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// The server has begun to watch. `changed` is `None` the first time, and then says whether the mailbox
    /// has changed while there was no connection.
    Watching {
        /// See there.
        changed: Option<bool>,
    },
    /// The line of a change, such as `* 5 EXISTS`.
    Change(String),
}

/// Reads reports piece by piece.
#[derive(Debug, Default)]
pub struct Mailbox {
    line: Vec<u8>,
    watches: bool,
    /// The numbers of this connection, and those of the last one.
    numbers: Numbers,
    before: Option<Numbers>,
}

impl Mailbox {
    /// Reads a piece of the body, and passes each report to `take`. A line without end is cut.
    pub fn read(&mut self, piece: &[u8], mut take: impl FnMut(Report)) {
        for byte in piece {
            match byte {
                b'\r' => {}
                b'\n' => {
                    let line = std::mem::take(&mut self.line);
                    if let Some(report) = self.take_line(&String::from_utf8_lossy(&line)) {
                        take(report);
                    }
                }
                _ if self.line.len() >= LIMIT => {}
                byte => self.line.push(*byte),
            }
        }
    }

    /// Begins again on a new connection.
    pub fn restart(&mut self) {
        self.line.clear();
        self.watches = false;
        self.numbers = Numbers::default();
    }

    /// Returns the number of messages, if it is known.
    pub fn exists(&self) -> Option<u64> {
        self.numbers.exists
    }

    fn take_line(&mut self, line: &str) -> Option<Report> {
        if line.starts_with('+') {
            let begins = !std::mem::replace(&mut self.watches, true);
            let before = self.before.replace(self.numbers);
            return begins.then(|| Report::Watching { changed: before.map(|before| before != self.numbers) });
        }
        let mut words = line.strip_prefix("* ")?.split(' ');
        let (first, second) = (words.next()?, words.next().unwrap_or_default());
        if let Some(number) = number_after(line, "[UIDNEXT ") {
            self.numbers.uid_next = Some(number);
        }
        if let Some(number) = number_after(line, "[UIDVALIDITY ") {
            self.numbers.uid_validity = Some(number);
        }
        let number: u64 = first.parse().ok()?;
        let differs = match second.to_ascii_uppercase().as_str() {
            "EXISTS" => {
                let before = self.numbers.exists.replace(number).unwrap_or(number);
                // Each new message has a UID; SELECT alone reports the next one.
                let new = number.saturating_sub(before);
                self.numbers.uid_next = self.numbers.uid_next.map(|next| next.saturating_add(new));
                number != before
            }
            "EXPUNGE" => {
                self.numbers.exists = self.numbers.exists.map(|exists| exists.saturating_sub(1));
                true
            }
            "FETCH" => true,
            _ => false,
        };
        if self.watches && differs {
            self.before = Some(self.numbers);
            return Some(Report::Change(line.to_owned()));
        }
        None
    }
}

/// Returns the number after a text.
fn number_after(line: &str, text: &str) -> Option<u64> {
    let rest = &line[line.find(text)? + text.len()..];
    rest.split(']').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(mailbox: &mut Mailbox, text: &str) -> Vec<Report> {
        let mut reports = Vec::new();
        text.as_bytes().chunks(3).for_each(|piece| mailbox.read(piece, |report| reports.push(report)));
        reports
    }

    const SELECTED: &str = "* FLAGS (\\Seen)\r\n* 3 EXISTS\r\n* 0 RECENT\r\n\
        * OK [UIDVALIDITY 17] UIDs valid\r\n* OK [UIDNEXT 9] Predicted\r\n+\r\n";

    #[test]
    fn changes_are_reported_while_the_server_watches() {
        let mut mailbox = Mailbox::default();
        assert_eq!(read(&mut mailbox, SELECTED), [Report::Watching { changed: None }]);
        let text = "* OK Still here\r\n* 3 EXISTS\r\n* 4 EXISTS\r\n* 1 RECENT\r\n* 2 EXPUNGE\r\n\
            * 1 FETCH (FLAGS (\\Seen))\r\n";
        let changes = ["* 4 EXISTS", "* 2 EXPUNGE", "* 1 FETCH (FLAGS (\\Seen))"];
        assert_eq!(read(&mut mailbox, text), changes.map(|line| Report::Change(line.to_owned())));
        assert_eq!(mailbox.exists(), Some(3));
        assert_eq!(read(&mut mailbox, "+\r\n"), [], "IDLE is renewed on the same connection");
        mailbox.restart();
        let selected = SELECTED.replace("UIDNEXT 9", "UIDNEXT 10");
        assert_eq!(read(&mut mailbox, &selected), [Report::Watching { changed: Some(false) }]);
    }

    #[test]
    fn a_new_connection_reports_what_happened_in_between() {
        let rows = [
            (SELECTED.to_owned(), false),
            (SELECTED.replace("3 EXISTS", "4 EXISTS"), true),
            (SELECTED.replace("UIDNEXT 9", "UIDNEXT 10"), true),
            (SELECTED.replace("UIDVALIDITY 17", "UIDVALIDITY 18"), true),
        ];
        for (text, changed) in rows {
            let mut mailbox = Mailbox::default();
            read(&mut mailbox, SELECTED);
            mailbox.restart();
            assert_eq!(read(&mut mailbox, &text), [Report::Watching { changed: Some(changed) }], "{text}");
        }
    }
}
