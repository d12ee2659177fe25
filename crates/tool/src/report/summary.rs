//! `--summary`: sums over a run, printed at the end. Only the slowest transfers are stored, so that a million
//! need no more memory than ten.

use crate::raw::Code;
use crate::raw::archive::units::{counted, size, time};
use crate::raw::json::Writer;
use crate::request::SummaryFormat;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Number of slowest transfers that are listed.
const SLOWEST: usize = 5;

/// A transfer that has ended, after all its attempts.
#[derive(Clone, Debug)]
pub struct TransferSummary {
    pub url: String,
    /// CURLE number.
    pub code: i32,
    /// Of the last answer; 0 where there was none, or the protocol has none.
    pub status: i64,
    /// From the start of the first attempt to the end of the last.
    pub time: Duration,
    /// The larger way, of the last attempt.
    pub bytes: i64,
    pub retries: i64,
}

/// Errors with the same code.
struct Errors {
    count: u64,
    first_url: String,
}

pub struct Summary {
    format: SummaryFormat,
    began: Instant,
    transfers: u64,
    failed: u64,
    skipped: u64,
    retries: i64,
    connections: i64,
    download: i64,
    upload: i64,
    /// The slowest first.
    slowest: Vec<TransferSummary>,
    statuses: BTreeMap<i64, u64>,
    errors: BTreeMap<i32, Errors>,
}

impl Summary {
    pub fn new(format: SummaryFormat) -> Summary {
        Summary {
            format,
            began: Instant::now(),
            transfers: 0,
            failed: 0,
            skipped: 0,
            retries: 0,
            connections: 0,
            download: 0,
            upload: 0,
            slowest: Vec::new(),
            statuses: BTreeMap::new(),
            errors: BTreeMap::new(),
        }
    }

    /// Adds the bytes moved by one attempt, or one piece of a file.
    pub fn moved(&mut self, download: i64, upload: i64, connections: i64) {
        self.download = self.download.saturating_add(download);
        self.upload = self.upload.saturating_add(upload);
        self.connections += connections;
    }

    /// Counts a transfer that was skipped because its file exists.
    pub fn skipped(&mut self) {
        self.skipped += 1;
    }

    pub fn ended(&mut self, transfer: TransferSummary) {
        self.transfers += 1;
        self.retries += transfer.retries;
        if transfer.status > 0 {
            *self.statuses.entry(transfer.status).or_default() += 1;
        }
        if transfer.code != 0 {
            self.failed += 1;
            let first = || Errors { count: 0, first_url: transfer.url.clone() };
            self.errors.entry(transfer.code).or_insert_with(first).count += 1;
        }
        let at = self.slowest.partition_point(|slow| slow.time >= transfer.time);
        if at < SLOWEST {
            self.slowest.insert(at, transfer);
            self.slowest.truncate(SLOWEST);
        }
    }

    /// All of it, with the end of its last line.
    pub fn text(&self) -> String {
        let took = self.began.elapsed();
        match self.format {
            SummaryFormat::Table => self.table(took),
            SummaryFormat::Json => self.json(took),
        }
    }

    fn rate(&self, took: Duration) -> i64 {
        let moved = self.download.saturating_add(self.upload);
        (moved as f64 / took.as_secs_f64().max(1e-6)) as i64
    }

    fn table(&self, took: Duration) -> String {
        let mut counts = format!("{}, {} failed", self.transfers, self.failed);
        for (count, what) in [(self.skipped, "skipped"), (self.retries.cast_unsigned(), "tried again")] {
            if count > 0 {
                counts.push_str(&format!(", {count} {what}"));
            }
        }
        let mut out = row("Transfers", &counts);
        out.push_str(&row("Connections", &self.connections.to_string()));
        let bytes = format!("{} down, {} up", size(self.download), size(self.upload));
        out.push_str(&row("Bytes", &bytes));
        out.push_str(&row("Time", &format!("{}, {}/s", time(took), size(self.rate(took)))));
        let statuses: Vec<String> =
            self.statuses.iter().map(|(status, count)| format!("{count} × {status}")).collect();
        if !statuses.is_empty() {
            out.push_str(&row("Answers", &statuses.join(", ")));
        }
        for (at, slow) in self.slowest.iter().enumerate() {
            let result = if slow.code != 0 { format!("({})", slow.code) } else { slow.status.to_string() };
            let text = format!("{:>8} {:>8} {result:>5} {}", time(slow.time), size(slow.bytes), slow.url);
            out.push_str(&row(if at == 0 { "Slowest" } else { "" }, &text));
        }
        for (at, (code, errors)) in self.errors.iter().enumerate() {
            let count = counted(errors.count as usize, "time");
            let text = format!("({code}) {}, {count}, first {}", Code::text_of(*code), errors.first_url);
            out.push_str(&row(if at == 0 { "Errors" } else { "" }, &text));
        }
        out
    }

    fn json(&self, took: Duration) -> String {
        let mut json = Writer::default();
        json.object(|json| {
            json.key("transfers").number(self.transfers);
            json.key("failed").number(self.failed);
            json.key("skipped").number(self.skipped);
            json.key("retries").number(self.retries);
            json.key("connections").number(self.connections);
            json.key("bytes_download").number(self.download);
            json.key("bytes_upload").number(self.upload);
            json.key("seconds").number(format_args!("{:.6}", took.as_secs_f64()));
            json.key("bytes_per_second").number(self.rate(took));
            json.key("statuses").object(|json| {
                self.statuses.iter().for_each(|(status, count)| json.key(status.to_string()).number(count));
            });
            json.key("slowest").array(|json| self.slowest.iter().for_each(|slow| slow_json(json, slow)));
            json.key("errors").array(|json| {
                self.errors.iter().for_each(|(code, errors)| errors_json(json, *code, errors));
            });
        });
        json.into_string() + "\n"
    }
}

fn row(name: &str, text: &str) -> String {
    format!("{name:<12} {text}\n")
}

fn slow_json(json: &mut Writer, slow: &TransferSummary) {
    json.object(|json| {
        json.key("url").text(&slow.url);
        json.key("seconds").number(format_args!("{:.6}", slow.time.as_secs_f64()));
        json.key("bytes").number(slow.bytes);
        json.key("status").number(slow.status);
        json.key("exitcode").number(slow.code);
    });
}

fn errors_json(json: &mut Writer, code: i32, errors: &Errors) {
    json.object(|json| {
        json.key("exitcode").number(code);
        json.key("errormsg").text(Code::text_of(code));
        json.key("count").number(errors.count);
        json.key("first_url").text(&errors.first_url);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transfer(number: u64, code: i32, status: i64) -> TransferSummary {
        let time = Duration::from_millis(number);
        TransferSummary { url: format!("http://h/\"{number}"), code, status, time, bytes: 10, retries: 1 }
    }

    fn summary() -> Summary {
        let mut summary = Summary::new(SummaryFormat::Table);
        for number in [3, 9, 1, 7, 5, 8, 2] {
            summary.moved(1000, 1, 1);
            summary.ended(transfer(number, if number > 7 { 28 } else { 0 }, 200));
        }
        summary.ended(transfer(4, 7, 0));
        summary.skipped();
        summary
    }

    #[test]
    fn the_text_summary_is_a_table() {
        let text = summary().table(Duration::from_secs(2));
        let begins = "Transfers    8, 3 failed, 1 skipped, 8 tried again\nConnections  7\n\
                      Bytes        7 KB down, 7 B up\nTime         2 s, 3.5 KB/s\nAnswers      7 × 200\n\
                      Slowest          9 ms     10 B  (28) http://h/\"9\n";
        assert!(text.starts_with(begins), "{text}");
        assert_eq!(text.lines().filter(|line| line.contains(" ms ")).count(), SLOWEST, "{text}");
        assert!(
            text.contains("\nErrors       (7) ") && text.contains(", 1 time, first http://h/\"4\n"),
            "{text}"
        );
        assert!(
            text.contains("\n             (28) ") && text.contains(", 2 times, first http://h/\"9\n"),
            "{text}"
        );
    }

    #[test]
    fn the_json_summary_is_one_line() {
        let text = summary().json(Duration::from_secs(2));
        assert_eq!(text.matches('\n').count(), 1, "{text}");
        assert!(
            text.starts_with("{\"transfers\":8,\"failed\":3,\"skipped\":1,\"retries\":8,\"connections\":7,"),
            "{text}"
        );
        assert!(text.contains("\"slowest\":[{\"url\":\"http://h/\\\"9\",\"seconds\":0.009000,"), "{text}");
        assert!(text.contains("\"exitcode\":28,") && text.contains("\"count\":2,"), "{text}");
    }
}
