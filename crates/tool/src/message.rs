//! Output on standard error: warnings, notes, errors, and their line breaks.
//!
//! Scripts match the texts and prefixes, so they are curl's.

pub use crate::system::os_text;
use crate::text::harmless_lines;
use std::io::Write;

/// Number of columns if it is unknown.
const COLUMNS: usize = 79;

/// Where messages go, and which of them.
pub struct Messages {
    sink: Box<dyn Write>,
    columns: usize,
    pub silent: bool,
    pub show_error: bool,
    /// Whether notes are shown: only in verbose mode.
    pub tracing: bool,
    /// Whether the output is a terminal: escape sequences of others must not reach it.
    terminal: bool,
    /// Said since something moves at the bottom of the terminal, above which it belongs.
    held: Option<Vec<u8>>,
}

impl Messages {
    pub fn new(sink: Box<dyn Write>, columns: Option<usize>) -> Messages {
        let columns = columns.unwrap_or(COLUMNS);
        Messages {
            sink,
            columns,
            silent: false,
            show_error: false,
            tracing: false,
            terminal: false,
            held: None,
        }
    }

    pub fn on_terminal(self, terminal: bool) -> Messages {
        Messages { terminal, ..self }
    }

    pub fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// `--stderr`: redirects all further output.
    pub fn redirect(&mut self, sink: Box<dyn Write>, terminal: bool) {
        let _ = self.sink.flush();
        self.sink = sink;
        self.terminal = terminal;
    }

    pub fn warn(&mut self, text: &str) {
        if !self.silent {
            self.wrapped("Warning: ", text);
        }
    }

    pub fn note(&mut self, text: &str) {
        if self.tracing && !self.silent {
            self.wrapped("Note: ", text);
        }
    }

    pub fn error(&mut self, text: &str) {
        if self.shows_errors() {
            self.wrapped("curl: ", text);
        }
    }

    pub fn shows_errors(&self) -> bool {
        !self.silent || self.show_error
    }

    /// A wrong use of the command line, with where to read on.
    pub fn usage(&mut self, text: &str) {
        if !text.is_empty() {
            self.line(&format!("curl: {text}"));
        }
        self.line("curl: try 'curl --help' or 'curl --manual' for more information");
    }

    /// Adds a line.
    pub fn line(&mut self, text: &str) {
        self.lines(format!("{text}\n").as_bytes());
    }

    /// Lines with their ends; a terminal sees no escapes in them.
    pub fn lines(&mut self, bytes: &[u8]) {
        if self.terminal { self.raw(&harmless_lines(bytes)) } else { self.raw(bytes) }
    }

    /// Writes bytes unmodified.
    pub fn raw(&mut self, bytes: &[u8]) {
        match &mut self.held {
            Some(held) => held.extend_from_slice(bytes),
            None => self.draw(bytes),
        }
    }

    /// Holds back messages until they are taken, or released.
    pub fn hold(&mut self) {
        self.held.get_or_insert_default();
    }

    pub fn holds(&self) -> bool {
        self.held.is_some()
    }

    /// Lines that wait; the beginning of one waits for its end.
    pub fn take_held(&mut self) -> Vec<u8> {
        let Some(held) = &mut self.held else { return Vec::new() };
        let end = held.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        held.drain(..end).collect()
    }

    /// Releases held messages: no bars are shown any more.
    pub fn let_go(&mut self) {
        if let Some(held) = self.held.take() {
            self.draw(&held);
        }
    }

    /// Writes at once. A closed standard error is ignored.
    pub fn draw(&mut self, bytes: &[u8]) {
        let _ = self.sink.write_all(bytes);
        let _ = self.sink.flush();
    }

    pub fn columns(&self) -> usize {
        self.columns
    }

    fn wrapped(&mut self, prefix: &str, text: &str) {
        let width = self.columns.saturating_sub(prefix.len()).max(1);
        for piece in pieces(text.as_bytes(), width) {
            let line = [prefix.as_bytes(), piece, b"\n"].concat();
            self.lines(&line);
        }
    }
}

/// Breaks a text after blanks so that the pieces fit; a word that is too long is cut.
fn pieces(mut text: &[u8], width: usize) -> Vec<&[u8]> {
    let mut found = Vec::new();
    while text.len() > width {
        let blank = text[..width].iter().rposition(|byte| matches!(byte, b' ' | b'\t'));
        let cut = match blank {
            Some(0) | None => width,
            Some(at) => at + 1,
        };
        found.push(&text[..cut]);
        text = &text[cut..];
    }
    if !text.is_empty() {
        found.push(text);
    }
    found
}

/// Bytes from the command line as text for a message.
pub fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breaks_after_the_last_blank_that_fits() {
        let text = "The argument 'xxhost:' starts with a Unicode character. Maybe ASCII was intended?";
        let found = pieces(text.as_bytes(), 70);
        assert_eq!(found.len(), 2);
        assert!(found[0].ends_with(b"Maybe ASCII "));
        assert_eq!(found[1], b"was intended?");
    }

    #[test]
    fn cuts_a_word_without_blanks() {
        assert_eq!(pieces(b"abcdef", 4), [b"abcd".as_slice(), b"ef"]);
        assert!(pieces(b"", 4).is_empty());
    }
}
