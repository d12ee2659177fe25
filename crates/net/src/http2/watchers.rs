//! Observers of frames (`--trace-config http/2`). As in curl, a frame is reported once: to the owner of its
//! stream, or, for a frame of the connection, to the oldest observer.

use std::rc::Rc;

use wire::h2::Watch;

/// Receives a line for each frame. It must not call the application: the session is borrowed, and its driver
/// belongs to no transfer.
pub type Trace = Rc<dyn Fn(String)>;

/// The observing streams of a session.
#[derive(Default)]
pub(super) struct Watchers {
    all: Vec<(u32, Trace)>,
    sent: Watch,
    /// From the beginning of a frame on.
    received: Option<Watch>,
}

impl Watchers {
    /// Adds the observer of a stream.
    pub fn enter(&mut self, stream: u32, trace: Trace) {
        self.all.push((stream, trace));
    }

    /// Removes the observer of a stream.
    pub fn leave(&mut self, stream: u32) {
        self.all.retain(|(number, _)| *number != stream);
        if self.all.is_empty() {
            (self.sent, self.received) = Default::default();
        }
    }

    /// Reports sent frames.
    pub fn sent(&mut self, bytes: &[u8]) {
        let Watchers { all, sent, .. } = self;
        if !all.is_empty() {
            sent.observe(bytes, |stream, words| report(all, stream, format!("[{stream}] -> {words}")));
        }
    }

    /// Reports received bytes, which start or continue a frame.
    pub fn received(&mut self, begin: bool, bytes: &[u8]) {
        let Watchers { all, received, .. } = self;
        if begin && !all.is_empty() {
            received.get_or_insert_default();
        }
        if let Some(watch) = received {
            watch.observe(bytes, |stream, words| report(all, stream, format!("[{stream}] <- {words}")));
        }
    }
}

fn report(all: &[(u32, Trace)], stream: u32, line: String) {
    if let Some((_, trace)) = all.iter().find(|(number, _)| stream == 0 || *number == stream) {
        trace(line);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// An empty SETTINGS, and a DATA frame of one byte on a stream.
    fn frames(stream: u8) -> Vec<u8> {
        [[0, 0, 0, 4, 0, 0, 0, 0, 0].as_slice(), &[0, 0, 1, 0, 0, 0, 0, 0, stream, b'x']].concat()
    }

    #[test]
    fn a_frame_is_reported_once() {
        let reported = Rc::new(RefCell::new(Vec::new()));
        let who = |name: &'static str| -> Trace {
            let reported = reported.clone();
            Rc::new(move |line: String| reported.borrow_mut().push((name, line[..6].to_owned())))
        };
        let mut watchers = Watchers::default();
        watchers.received(true, &frames(1));
        watchers.enter(1, who("a"));
        watchers.enter(3, who("b"));
        watchers.sent(&frames(3));
        watchers.received(false, &frames(1)[10..]); // the rest of something
        watchers.received(true, &frames(1));
        watchers.leave(1);
        watchers.sent(&frames(1));
        watchers.leave(3);
        watchers.sent(&frames(3));
        let all = reported.take();
        let all: Vec<(&str, &str)> = all.iter().map(|(name, line)| (*name, line.trim_end())).collect();
        assert_eq!(
            all,
            [("a", "[0] ->"), ("b", "[3] ->"), ("a", "[0] <-"), ("a", "[1] <-"), ("b", "[0] ->")]
        );
    }
}
