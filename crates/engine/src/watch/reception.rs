//! The callbacks of a watched URL's transfers: they collect the body, or pass on a stream.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::callbacks::{Callbacks, WriteAnswer};

/// The URLs whose streams have brought something.
pub type News = Rc<RefCell<Vec<usize>>>;

/// Receives the body of one URL's transfers.
pub struct Reception {
    number: usize,
    news: News,
    limit: usize,
    body: RefCell<Vec<u8>>,
    overflows: Cell<bool>,
    streams: Cell<bool>,
    /// The head of the current reply announces an event stream.
    announced: Cell<bool>,
}

impl Reception {
    /// Creates the callbacks of the URL with this number. A body of more than `limit` bytes is an error.
    pub fn new(number: usize, limit: usize, news: News) -> Rc<Reception> {
        let (body, overflows) = (RefCell::default(), Cell::new(false));
        let (streams, announced) = (Cell::new(false), Cell::new(false));
        Rc::new(Reception { number, news, limit, body, overflows, streams, announced })
    }

    /// Prepares for a transfer. `streams`: its body has no end.
    pub fn begin(&self, streams: bool) {
        self.body.borrow_mut().clear();
        self.overflows.set(false);
        self.announced.set(false);
        self.streams.set(streams);
    }

    /// Returns whether the body is a stream.
    pub fn is_stream(&self) -> bool {
        self.streams.get()
    }

    /// Returns whether the body was longer than the limit.
    pub fn has_overflowed(&self) -> bool {
        self.overflows.get()
    }

    /// Takes the body so far.
    pub fn take(&self) -> Vec<u8> {
        self.body.take()
    }

    /// Shows the body, which keeps its storage.
    pub fn with_body<R>(&self, read: impl FnOnce(&[u8]) -> R) -> R {
        read(&self.body.borrow())
    }

    fn report_news(&self) {
        let mut news = self.news.borrow_mut();
        if !news.contains(&self.number) {
            news.push(self.number);
        }
    }
}

impl Callbacks for Reception {
    fn write(&self, data: &[u8]) -> WriteAnswer {
        let mut body = self.body.borrow_mut();
        if body.len() + data.len() > self.limit {
            self.overflows.set(true);
            return WriteAnswer::Failed(0);
        }
        body.extend_from_slice(data);
        drop(body);
        if self.streams.get() {
            self.report_news();
        }
        WriteAnswer::All
    }

    fn header(&self, line: &[u8]) -> Option<WriteAnswer> {
        if line.starts_with(b"HTTP/") {
            self.announced.set(false);
            // Redirects and errors have bodies that are no stream.
            let status = line.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
            if status.starts_with(b"200") {
                self.announced.set(true);
            }
        } else if self.announced.get() && is_event_stream(line) {
            self.streams.set(true);
            self.report_news();
        }
        Some(WriteAnswer::All)
    }
}

/// Returns whether a header line announces an event stream (HTML standard, section 9.2.5).
fn is_event_stream(line: &[u8]) -> bool {
    let Some(colon) = line.iter().position(|byte| *byte == b':') else { return false };
    let kind = line[colon + 1..].split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    line[..colon].eq_ignore_ascii_case(b"content-type") && kind.eq_ignore_ascii_case(b"text/event-stream")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_successful_event_stream_is_a_stream() {
        let ok = "HTTP/1.1 200 OK\r\n";
        let rows = [
            (&[ok, "Content-Type: text/event-stream\r\n"][..], true),
            (&["HTTP/2 200 \r\n", "content-type:Text/Event-Stream; charset=utf-8\r\n"][..], true),
            (&[ok, "Content-Type: text/event-stream-of-ours\r\n"][..], false),
            (&[ok, "X-Content-Type: text/event-stream\r\n"][..], false),
            (&["HTTP/1.1 404 Not Found\r\n", "Content-Type: text/event-stream\r\n"][..], false),
        ];
        for (lines, wanted) in rows {
            let news = News::default();
            let reception = Reception::new(3, 10, news.clone());
            reception.begin(false);
            for line in lines {
                assert!(reception.header(line.as_bytes()).is_some());
            }
            assert_eq!(reception.is_stream(), wanted, "{lines:?}");
            assert_eq!(*news.borrow(), if wanted { vec![3] } else { vec![] }, "{lines:?}");
        }
    }

    #[test]
    fn a_body_has_a_limit() {
        let reception = Reception::new(0, 5, News::default());
        reception.begin(false);
        assert!(matches!(reception.write(b"abcde"), WriteAnswer::All));
        assert!(matches!(reception.write(b"f"), WriteAnswer::Failed(_)));
        assert!(reception.has_overflowed());
        assert_eq!(reception.take(), b"abcde");
    }
}
