//! The way of spans to the collector: a bounded queue and a helper thread, which exports several at a time.
//! No transfer waits for either. Spans that do not fit are dropped and counted.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use tables::environment::TRACE;
use wire::json::Writer;

use super::super::per_process::PerProcess;
use super::span::{integer, text};

/// Posts a body, and returns why that failed.
pub type Exporter = Box<dyn FnMut(&[u8]) -> Result<(), String>>;
/// Makes the exporter for a URL, on the thread that uses it.
pub type Connect = fn(&str) -> Exporter;

/// Most spans that wait.
const MAX_WAITING: usize = 2048;
/// Most spans of one export, and how long the first of them waits for others.
const MAX_BATCH: usize = 512;
const GATHERING: Duration = Duration::from_secs(1);
/// How long the end of the process waits for the last export.
const AT_EXIT: Duration = Duration::from_millis(200);

/// A message to the helper.
enum Message {
    Span(String),
    /// Export at once, and answer.
    Finish(Sender<()>),
}

/// Numbers that both sides share.
#[derive(Default)]
struct Counts {
    waiting: AtomicUsize,
    lost: AtomicUsize,
}

/// The queue of a process.
struct Queue {
    /// `None` without a helper thread.
    sender: Option<Sender<Message>>,
    counts: Arc<Counts>,
}

static QUEUE: PerProcess<Queue> = PerProcess::new();
/// Spans that could not even be counted by the queue, because other threads held it.
static MISSED: AtomicUsize = AtomicUsize::new(0);

impl Queue {
    fn start(url: &str, connect: Connect) -> Queue {
        let counts = Arc::<Counts>::default();
        let (sender, receiver) = channel();
        let (own, url) = (counts.clone(), url.to_owned());
        let started = runtime::spawn_helper("span-exporter", move || run(&receiver, &own, &url, connect));
        Queue { sender: started.is_ok().then_some(sender), counts }
    }

    fn add(&mut self, span: String) {
        let counts = &self.counts;
        // Counted before it leaves, since the helper counts down.
        let fits = counts.waiting.fetch_add(1, Ordering::Relaxed) < MAX_WAITING;
        let sent = |sender: &Sender<Message>| sender.send(Message::Span(span)).is_ok();
        if !(fits && self.sender.as_ref().is_some_and(sent)) {
            counts.waiting.fetch_sub(1, Ordering::Relaxed);
            counts.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Adds a span to the queue.
pub fn add(span: String, url: &str, connect: Connect) {
    if QUEUE.with(|| Queue::start(url, connect), |queue| queue.add(span)).is_none() {
        MISSED.fetch_add(1, Ordering::Relaxed);
    }
}

/// Exports the spans that wait, when the process ends, and reports those that were lost.
pub fn finish() {
    let none = || Queue { sender: None, counts: Arc::default() };
    let Some((sender, counts)) = QUEUE.with(none, |queue| (queue.sender.clone(), queue.counts.clone()))
    else {
        return;
    };
    let mut late = 0;
    if let Some(sender) = sender {
        let (answer, done) = channel();
        if sender.send(Message::Finish(answer)).is_err() || done.recv_timeout(AT_EXIT).is_err() {
            late = counts.waiting.load(Ordering::Relaxed);
        }
    }
    let lost = counts.lost.load(Ordering::Relaxed) + MISSED.load(Ordering::Relaxed) + late;
    if lost > 0 {
        // If standard error is closed, the remark is lost.
        let _ = writeln!(io::stderr(), "warmwire: {}: {lost} spans were not exported", TRACE.name);
    }
}

/// Exports until the process ends.
fn run(receiver: &Receiver<Message>, counts: &Counts, url: &str, connect: Connect) {
    let mut post = connect(url);
    let mut reported = false;
    let mut batch: Vec<String> = Vec::new();
    let mut until: Option<Instant> = None;
    loop {
        let message = match until {
            None => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(until) => receiver.recv_timeout(until.saturating_duration_since(Instant::now())),
        };
        let answer = match message {
            Ok(Message::Span(span)) => {
                until.get_or_insert_with(|| Instant::now() + GATHERING);
                batch.push(span);
                if batch.len() < MAX_BATCH {
                    continue;
                }
                None
            }
            Ok(Message::Finish(answer)) => Some(answer),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return,
        };
        until = None;
        if !batch.is_empty() {
            if let Err(why) = post(&body(&batch)) {
                counts.lost.fetch_add(batch.len(), Ordering::Relaxed);
                if !std::mem::replace(&mut reported, true) {
                    let _ = writeln!(io::stderr(), "warmwire: {}: cannot export to {url}: {why}", TRACE.name);
                }
            }
            counts.waiting.fetch_sub(batch.len(), Ordering::Relaxed);
            batch.clear();
        }
        if let Some(answer) = answer {
            let _ = answer.send(());
        }
    }
}

/// Returns the name of the program: that of OpenTelemetry's variable, or that of its file.
fn service() -> String {
    let named = std::env::var("OTEL_SERVICE_NAME").ok().filter(|name| !name.is_empty());
    let of_file = || {
        let program = std::env::args_os().next().unwrap_or_default();
        std::path::Path::new(&program).file_name().unwrap_or_default().to_string_lossy().into_owned()
    };
    named.unwrap_or_else(of_file)
}

/// Returns the body of an export (`ExportTraceServiceRequest`).
fn body(spans: &[String]) -> Vec<u8> {
    let mut out = Writer::default();
    out.object(|out| {
        out.key("resourceSpans").array(|out| {
            out.object(|out| {
                out.key("resource").object(|out| {
                    out.key("attributes").array(|out| {
                        text(out, "service.name", &service());
                        integer(out, "process.pid", std::process::id().into());
                        text(out, "telemetry.sdk.name", "warmwire");
                    });
                });
                out.key("scopeSpans").array(|out| {
                    out.object(|out| {
                        out.key("scope").object(|out| {
                            out.key("name").text("warmwire");
                            out.key("version").text(env!("CARGO_PKG_VERSION"));
                        });
                        out.key("spans").array(|out| spans.iter().for_each(|span| out.json(span)));
                    });
                });
            });
        });
    });
    out.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_lost_and_counted() {
        let (sender, _receiver) = channel();
        let mut queue = Queue { sender: Some(sender), counts: Arc::default() };
        (0..MAX_WAITING + 3).for_each(|_| queue.add("{}".to_owned()));
        assert_eq!(queue.counts.waiting.load(Ordering::Relaxed), MAX_WAITING);
        assert_eq!(queue.counts.lost.load(Ordering::Relaxed), 3);
    }

    #[test]
    fn a_helper_exports_in_batches_and_answers() {
        let connect: Connect = |_| {
            let mut count = 0;
            Box::new(move |body| {
                count += 1;
                assert!(body.starts_with(b"{\"resourceSpans\":[{\"resource\":"));
                if count == 1 { Ok(()) } else { Err("refused".to_owned()) }
            })
        };
        let mut queue = Queue::start("http://h.test/", connect);
        (0..MAX_BATCH + 2).for_each(|_| queue.add("{}".to_owned()));
        let (answer, done) = channel();
        queue.sender.as_ref().unwrap().send(Message::Finish(answer)).unwrap();
        done.recv_timeout(Duration::from_secs(10)).unwrap();
        assert_eq!(queue.counts.waiting.load(Ordering::Relaxed), 0);
        assert_eq!(queue.counts.lost.load(Ordering::Relaxed), 2);
    }
}
