//! Verbose and trace lines about connecting, in curl's words.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use net::connect::RaceEvent;
use tables::EasyOption as O;

use super::Connector;

impl Connector {
    /// Reports an event of the race for `host`. `first` says that it is the first attempt.
    pub(super) fn report_race_event(&self, host: &str, event: &RaceEvent<'_>, first: bool) {
        match event {
            RaceEvent::Answered(answered) => {
                self.note_answer(answered);
                let (count, record) = (answered.candidates.len(), answered.part.record());
                self.easy.trace("dns", || format!("{host}: {count} candidates from {record}"));
            }
            RaceEvent::Trying(address) => {
                let place = if first { "first" } else { "next" };
                let family = if address.is_ipv6() { "ipv6" } else { "ipv4" };
                let text = || format!("starting {place} attempt for {family} -> 0");
                self.easy.trace("happy-eyeballs", text);
                self.easy.note(|| format!("  Trying {address}..."));
            }
            RaceEvent::Waiting(delay) => {
                let ms = delay.as_micros().div_ceil(1000);
                self.easy.trace("happy-eyeballs", || format!("next HAPPY_EYEBALLS timeout in {ms}ms"));
                self.note_timer("HAPPY_EYEBALLS", *delay);
                let text = || format!("[HAPPY_EYEBALLS] gives multi timeout in {ms}ms");
                self.easy.trace("timer", text);
            }
            RaceEvent::Failed(address, local, error) => self.easy.note(|| {
                let from = local.map_or(String::new(), |l| format!(" from {} port {}", l.ip(), l.port()));
                let (ip, port) = (address.ip(), address.port());
                format!("connect to {ip} port {port}{from} failed: {}", error.reason())
            }),
        }
    }

    /// Reports a timer that is set, in curl's words.
    fn note_timer(&self, name: &str, after: Duration) {
        self.easy.trace("timer", || format!("[{name}] set for {}us", after.as_micros()));
    }

    /// Reports the time limit for connecting, if the application has set one.
    pub(super) fn note_connect_timeout(&self, deadline: Instant) {
        if self.long(O::ConnectTimeoutMs) > 0 {
            self.note_timer("CONNECTTIMEOUT", deadline.saturating_duration_since(self.now()));
        }
    }

    /// Reports the end of the race.
    pub(super) fn note_winner(&self, host: &str, winner: SocketAddr) {
        let at = || format!("Connected to {host} ({}) port {}", winner.ip(), winner.port());
        self.easy.trace("happy-eyeballs", at);
        self.easy.trace("timer", || "[HAPPY_EYEBALLS] cleared".to_owned());
    }
}
