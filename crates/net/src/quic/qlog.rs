//! A log of a connection for debugging (qlog, draft-ietf-quic-qlog-main-schema-13): a file of JSON text
//! sequences (RFC 7464) for each connection, named by the connection's first ID as in curl. It has datagrams
//! and metrics of the path; the layer above logs frames.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use quinn_proto::PathStats;

/// Starts each text of a sequence.
const RECORD: char = '\u{1e}';

/// One connection's file, which is made when it has sent something.
pub struct Log {
    folder: PathBuf,
    /// With when it began.
    file: Option<(File, Instant)>,
    told: String,
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
        Log { folder, file: None, told: String::new() }
    }

    /// Starts the file of the connection whose first datagram this is.
    fn begin(&mut self, first: &[u8], now: Instant) -> Option<()> {
        let name: String = source(first)?.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(true);
        self.file = Some((file.open(self.folder.join(format!("{name}.sqlog"))).ok()?, now));
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        self.line(&format!(
            "{{\"qlog_version\":\"0.3\",\"qlog_format\":\"JSON-SEQ\",\"title\":\"warmwire\",\"trace\":{{\
             \"vantage_point\":{{\"type\":\"client\"}},\"common_fields\":{{\"group_id\":\"{name}\",\
             \"time_format\":\"relative\",\"reference_time\":{wall}}}}}}}"
        ));
        Some(())
    }

    fn line(&mut self, text: &str) {
        if let Some((file, _)) = &mut self.file {
            let _ = file.write_all(format!("{RECORD}{text}\n").as_bytes()); // nowhere to report it
        }
    }

    fn event(&mut self, name: &str, data: &str, now: Instant) {
        let Some((_, began)) = &self.file else { return };
        let time = now.saturating_duration_since(*began).as_secs_f64() * 1e3;
        self.line(&format!("{{\"time\":{time:.3},\"name\":\"{name}\",\"data\":{{{data}}}}}"));
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
        let (size, mut left) = (size.max(1), bytes);
        let mut raw = String::new();
        while left > 0 {
            let one = left.min(size);
            left -= one;
            let comma = if raw.is_empty() { "" } else { "," };
            let _ = write!(raw, "{comma}{{\"length\":{one}}}"); // a String takes all
        }
        self.event(name, &format!("\"count\":{},\"raw\":[{raw}]", bytes.div_ceil(size)), now);
    }

    /// Logs the metrics of the path if they have changed.
    pub fn metrics(&mut self, path: &PathStats, now: Instant) {
        let data = format!(
            "\"smoothed_rtt\":{:.3},\"congestion_window\":{},\"packets_lost\":{},\"mtu\":{}",
            path.rtt.as_secs_f64() * 1e3,
            path.cwnd,
            path.lost_packets,
            path.current_mtu
        );
        if data != self.told {
            self.event("recovery:metrics_updated", &data, now);
            self.told = data;
        }
    }

    /// Logs the end of the connection.
    pub fn closed(&mut self, why: &str, now: Instant) {
        let why: String = why.chars().filter(|c| !c.is_control() && !matches!(c, '"' | '\\')).collect();
        self.event("connectivity:connection_closed", &format!("\"reason\":\"{why}\""), now);
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
