//! Latencies of the last polls of a URL.

use std::time::Duration;

/// Number of polls that are remembered.
const KEPT: usize = 1000;

/// The latencies of the last thousand polls.
#[derive(Clone, Debug, Default)]
pub struct Latencies {
    /// In microseconds; a ring.
    last: Vec<u32>,
    next: usize,
}

impl Latencies {
    /// Adds a poll.
    pub fn add(&mut self, latency: Duration) {
        let micros = u32::try_from(latency.as_micros()).unwrap_or(u32::MAX);
        match self.last.len() < KEPT {
            true => self.last.push(micros),
            false => self.last[self.next] = micros,
        }
        self.next = (self.next + 1) % KEPT;
    }

    /// Returns the latencies that these shares of the polls did not exceed; `None` without polls.
    pub fn quantiles<const N: usize>(&self, shares: [f64; N]) -> Option<[Duration; N]> {
        let mut sorted = self.last.clone();
        sorted.sort_unstable();
        let last = sorted.len().checked_sub(1)?;
        let at = |share: f64| ((sorted.len() as f64 * share).ceil() as usize).saturating_sub(1).min(last);
        Some(shares.map(|share| Duration::from_micros(u64::from(sorted[at(share)]))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_latencies_that_occurred() {
        let mut latencies = Latencies::default();
        assert_eq!(latencies.quantiles([0.5]), None);
        latencies.add(Duration::from_millis(7));
        assert_eq!(latencies.quantiles([0.0, 0.5, 1.0]), Some([Duration::from_millis(7); 3]));
        (1..=1100).for_each(|ms| latencies.add(Duration::from_millis(ms)));
        let [half, most, all] = latencies.quantiles([0.5, 0.99, 1.0]).unwrap();
        assert_eq!([half, most, all].map(|q| q.as_millis()), [600, 1090, 1100], "of 101 to 1100");
    }
}
