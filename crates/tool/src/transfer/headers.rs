//! Uses of received headers: files of their own, ETags, names for the output, the terminal.

use super::{Answers, Transfer};
use crate::message::shown;
use crate::names;
use crate::options::ToolOption;
use crate::text::harmless_lines;
use std::io;

impl Transfer {
    /// Processes one line of the head of a reply, or its equivalent in other protocols.
    pub(super) fn header_line(&self, line: &[u8]) -> Result<(), ()> {
        if let Some(heads) = self.heads.borrow_mut().as_mut() {
            let mut messages = self.env.messages.borrow_mut();
            let written = heads.write(line, &mut messages).and_then(|()| heads.flush());
            if written.is_err() {
                let name = shown(heads.name.as_deref().unwrap_or_default());
                messages.error(&format!("Failed writing headers to {name}"));
                return Err(());
            }
        }
        self.count_header(line);
        if !self.request.show_headers && !self.honour_name.get() && self.etag.borrow().is_none() {
            return Ok(()); // nothing else needs it
        }
        let (answers, response) = self.answer();
        if answers == Answers::Http && self.looked_at(line, response)? {
            return Ok(());
        }
        if !self.request.show_headers || answers == Answers::Otherwise {
            return Ok(());
        }
        if !self.opened() {
            return Err(());
        }
        self.show_header(line).map_err(|_| ())
    }

    /// Writes headers that still wait after the transfer.
    pub fn finish_headers(&self) -> bool {
        if self.waiting.borrow().is_empty() {
            return true;
        }
        self.opened() && self.release().is_ok()
    }

    /// Examines an HTTP header that may save an ETag or name the file; true if the header is held back.
    fn looked_at(&self, line: &[u8], response: i64) -> Result<bool, ()> {
        let success = matches!(response / 100, 2 | 3);
        if success && let Some(value) = field(line, b"etag:") {
            self.save_etag(value)?;
            if self.etag.borrow().is_some() {
                return Ok(self.wait(line));
            }
        }
        if !self.honour_name.get() {
            return Ok(false);
        }
        if success
            && response / 100 == 3
            && let Some(value) = field(line, b"location:")
        {
            if let Some(name) = names::from_location(value) {
                self.name_output(&name)?;
            }
        } else if success && let Some(value) = field(line, b"content-disposition:") {
            let named = match self.request.content_disposition {
                true => names::from_encoded_disposition(value),
                false => names::from_disposition(value),
            };
            if let Some(name) = named {
                self.name_output(&name)?;
                self.honour_name.set(false);
            }
            if !self.opened() {
                return Err(());
            }
            self.release()?;
            return Ok(false);
        }
        Ok(self.wait(line))
    }

    /// Holds back a header until the name of the file is known.
    fn wait(&self, line: &[u8]) -> bool {
        let waits = self.honour_name.get() && self.request.show_headers;
        if waits {
            self.waiting.borrow_mut().push(line.to_vec());
        }
        waits
    }

    /// Writes the headers that were held back.
    pub(super) fn release(&self) -> Result<(), ()> {
        let lines = self.waiting.take();
        lines.iter().try_for_each(|line| self.put_head(line)).map_err(|_| ())
    }

    fn name_output(&self, name: &[u8]) -> Result<(), ()> {
        let mut out = self.out.borrow_mut();
        if out.is_open() {
            return Err(());
        }
        out.name = Some(names::in_directory(self.request.options.text(ToolOption::OutputDir), name));
        out.named_by_server = true;
        Ok(())
    }

    /// Saves an ETag; the file contains only the last one.
    fn save_etag(&self, value: &[u8]) -> Result<(), ()> {
        let mut etag = self.etag.borrow_mut();
        let Some(sink) = etag.as_mut() else { return Ok(()) };
        let value = value.trim_ascii();
        if value.is_empty() {
            return Ok(());
        }
        if sink.is_file() {
            sink.empty().map_err(|_| ())?;
        }
        let line = [value, b"\n"].concat();
        let mut messages = self.env.messages.borrow_mut();
        sink.write(&line, &mut messages).and_then(|()| sink.flush()).map_err(|_| ())
    }

    fn count_header(&self, line: &[u8]) {
        if line.contains(&b':') {
            if self.head_ended.replace(false) {
                self.header_count.set(0);
            }
            self.header_count.set(self.header_count.get() + 1);
        } else if matches!(line.first(), Some(b'\r' | b'\n')) {
            self.head_ended.set(true);
        }
    }

    fn show_header(&self, line: &[u8]) -> io::Result<()> {
        if !self.env.stdout_is_terminal || self.out.borrow().is_file() {
            return self.put_head(line);
        }
        let text = harmless_lines(line);
        match text.iter().position(|byte| *byte == b':') {
            Some(colon) if self.env.globals.styled => {
                let styled = [b"\x1b[1m", &text[..colon], b"\x1b[0m", &text[colon..]].concat();
                self.put_head(&styled)
            }
            _ => self.put_head(&text),
        }
    }
}

/// Returns the value of a header with this name.
fn field<'l>(line: &'l [u8], name: &[u8]) -> Option<&'l [u8]> {
    let head = line.get(..name.len())?;
    head.eq_ignore_ascii_case(name).then(|| &line[name.len()..])
}
