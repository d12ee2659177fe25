//! A log of a connection for debugging (qlog, draft-ietf-quic-qlog-main-schema-13): a file of JSON text
//! sequences (RFC 7464) for each connection, named by the connection's first ID as in curl. It has datagrams
//! and metrics of the path; the layer above logs frames.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use quinn_proto::PathStats;
use wire::json::Writer;

/// Begins each text of a sequence.
const RECORD: u8 = 0x1e;

/// A connection's file, which is made when it has sent something.
pub struct Log {
    folder: PathBuf,
    /// With when it began.
    file: Option<(File, Instant)>,
    /// The metrics last written: round trip in microseconds, window, lost packets, MTU.
    metrics: (u128, u64, u64, u16),
}

/// The sender's ID in a packet with a long header (RFC 9000 §17.2).
fn source(datagram: &[u8]) -> Option<&[u8]> {
    let (_to, rest) = datagram.get(6..)?.split_at_checked(usize::from(*datagram.get(5)?))?;
    let (length, rest) = rest.split_first()?;
    rest.get(..usize::from(*length))
}

impl Log {
    /// Creates a log in this directory. A directory that is not writable never fails a transfer.
    pub fn new(folder: PathBuf) -> Log {
        Log { folder, file: None, metrics: (0, 0, 0, 0) }
    }

    /// Starts the file of the connection whose first datagram this is.
    fn begin(&mut self, first: &[u8], now: Instant) -> Option<()> {
        let name: String = source(first)?.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(true);
        self.file = Some((file.open(self.folder.join(format!("{name}.sqlog"))).ok()?, now));
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        self.line(|json| {
            json.key("qlog_version").text("0.3");
            json.key("qlog_format").text("JSON-SEQ");
            json.key("title").text("warmwire");
            json.key("trace").object(|json| {
                json.key("vantage_point").object(|json| json.key("type").text("client"));
                json.key("common_fields").object(|json| {
                    json.key("group_id").text(&name);
                    json.key("time_format").text("relative");
                    json.key("reference_time").number(wall);
                });
            });
        });
        Some(())
    }

    /// Writes one text of the sequence: an object with these members.
    fn line(&mut self, members: impl FnOnce(&mut Writer)) {
        if let Some((file, _)) = &mut self.file {
            let mut json = Writer::default();
            json.object(members);
            let text = [&[RECORD], &json.finish()[..], b"\n"].concat();
            let _ = file.write_all(&text); // a failure has no reader
        }
    }

    fn event(&mut self, name: &str, now: Instant, data: impl FnOnce(&mut Writer)) {
        let Some((_, began)) = &self.file else { return };
        let time = now.saturating_duration_since(*began).as_secs_f64() * 1e3;
        self.line(|json| {
            json.key("time").number(format_args!("{time:.3}"));
            json.key("name").text(name);
            json.key("data").object(data);
        });
    }

    /// Datagrams of one size were sent, the last perhaps shorter.
    pub fn sent(&mut self, bytes: &[u8], size: usize, now: Instant) {
        if self.file.is_none() {
            let _ = self.begin(bytes, now); // without a file nothing is logged
        }
        self.datagrams("transport:datagrams_sent", bytes.len(), size, now);
    }

    pub fn received(&mut self, bytes: usize, size: usize, now: Instant) {
        self.datagrams("transport:datagrams_received", bytes, size, now);
    }

    fn datagrams(&mut self, name: &str, bytes: usize, size: usize, now: Instant) {
        let size = size.max(1);
        self.event(name, now, |json| {
            json.key("count").number(bytes.div_ceil(size));
            json.key("raw").array(|json| {
                for from in (0..bytes).step_by(size) {
                    json.object(|json| json.key("length").number(size.min(bytes - from)));
                }
            });
        });
    }

    /// Logs the metrics of the path if they have changed.
    pub fn metrics(&mut self, path: &PathStats, now: Instant) {
        let metrics = (path.rtt.as_micros(), path.cwnd, path.lost_packets, path.current_mtu);
        if metrics == self.metrics {
            return;
        }
        self.metrics = metrics;
        self.event("recovery:metrics_updated", now, |json| {
            json.key("smoothed_rtt").number(format_args!("{:.3}", path.rtt.as_secs_f64() * 1e3));
            json.key("congestion_window").number(path.cwnd);
            json.key("packets_lost").number(path.lost_packets);
            json.key("mtu").number(path.current_mtu);
        });
    }

    /// Logs the end of the connection.
    pub fn closed(&mut self, why: &str, now: Instant) {
        self.event("connectivity:connection_closed", now, |json| json.key("reason").text(why));
    }
}

#[cfg(test)]
mod tests {
    use super::source;

    #[test]
    fn the_name_is_in_the_first_datagram() {
        let datagram = [0xc0, 0, 0, 0, 1, 2, 9, 9, 3, 1, 2, 3, 0];
        assert_eq!(source(&datagram), Some(&[1, 2, 3][..]));
        for cut in 0..12 {
            assert_eq!(source(&datagram[..cut]), None, "{cut}");
        }
    }
}
