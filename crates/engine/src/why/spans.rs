//! Where the time of a request went: the moments of a transfer's infos, cut into stages whose sum is the
//! whole time.

use std::time::Duration;

use crate::info::TransferInfo;

/// A stage of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Waiting for the name's address; with it the wait for a free connection.
    Name,
    /// Connecting, by TCP or QUIC, and through proxies.
    Connect,
    /// The TLS handshake, or the login of another protocol.
    Secure,
    /// Making the request ready.
    Prepare,
    /// Sending it.
    Send,
    /// Waiting for the first byte of the reply.
    Server,
    /// Receiving the rest.
    Receive,
}

impl Stage {
    pub const ALL: [Stage; 7] = [
        Stage::Name,
        Stage::Connect,
        Stage::Secure,
        Stage::Prepare,
        Stage::Send,
        Stage::Server,
        Stage::Receive,
    ];

    /// Returns its name in texts and in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Stage::Name => "name",
            Stage::Connect => "connect",
            Stage::Secure => "tls",
            Stage::Prepare => "prepare",
            Stage::Send => "send",
            Stage::Server => "server",
            Stage::Receive => "receive",
        }
    }
}

/// Returns the moments at which the stages but the last one end; zero for one that was not reached.
pub fn moments(info: &TransferInfo) -> [Duration; 6] {
    [
        info.name_lookup,
        info.connect,
        info.app_connect,
        info.pre_transfer,
        info.post_transfer,
        info.start_transfer,
    ]
    .map(Duration::from)
}

/// The time of a request by stage: without an allocation, since a report needs it for each request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stages([Duration; Stage::ALL.len()]);

impl Stages {
    /// Returns the time of one stage.
    pub fn of(&self, stage: Stage) -> Duration {
        self.0[stage as usize]
    }

    /// Returns the stages that took time, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Stage, Duration)> {
        Stage::ALL.into_iter().zip(self.0).filter(|(_, length)| !length.is_zero())
    }
}

impl<const N: usize> From<[(Stage, Duration); N]> for Stages {
    fn from(lengths: [(Stage, Duration); N]) -> Stages {
        let mut stages = Stages::default();
        lengths.into_iter().for_each(|(stage, length)| stages.0[stage as usize] += length);
        stages
    }
}

/// Cuts the time between `from` and `to` into stages. A moment outside belongs to another request and ends
/// no stage of this one. The stage after the last moment ended with the request: it gets the rest.
pub fn cut(from: Duration, to: Duration, moments: [Duration; 6]) -> Stages {
    let (mut at, mut reached, mut stages) = (from, 0, Stages::default());
    for (number, moment) in moments.into_iter().enumerate() {
        if moment <= from || moment < at || moment > to {
            continue;
        }
        stages.0[number] = moment - at;
        (at, reached) = (moment, number + 1);
    }
    stages.0[reached] += to.saturating_sub(at);
    stages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_sum_to_the_whole() {
        use Stage::*;
        let rows: &[(&str, (u64, u64), [u64; 6], &[(Stage, u64)])] = &[
            (
                "a new connection with TLS",
                (0, 100),
                [10, 30, 60, 61, 62, 90],
                &[
                    (Name, 10),
                    (Connect, 20),
                    (Secure, 30),
                    (Prepare, 1),
                    (Send, 1),
                    (Server, 28),
                    (Receive, 10),
                ],
            ),
            (
                "a second request on it",
                (100, 150),
                [10, 30, 60, 101, 102, 140],
                &[(Prepare, 1), (Send, 1), (Server, 38), (Receive, 10)],
            ),
            ("a name that no server knows", (0, 40), [0; 6], &[(Name, 40)]),
            ("a host that does not answer", (0, 40), [5, 0, 0, 0, 0, 0], &[(Name, 5), (Connect, 35)]),
            (
                "a handshake that fails",
                (0, 40),
                [5, 15, 0, 0, 0, 0],
                &[(Name, 5), (Connect, 10), (Secure, 25)],
            ),
            (
                "without TLS",
                (0, 40),
                [5, 15, 0, 16, 17, 30],
                &[(Name, 5), (Connect, 10), (Prepare, 1), (Send, 1), (Server, 13), (Receive, 10)],
            ),
            (
                "a reply before the request was sent",
                (0, 40),
                [5, 15, 0, 16, 39, 30],
                &[(Name, 5), (Connect, 10), (Prepare, 1), (Send, 23), (Server, 1)],
            ),
        ];
        for (name, (from, to), moments, wanted) in rows {
            let ms = Duration::from_millis;
            let found: Vec<_> = cut(ms(*from), ms(*to), moments.map(ms)).iter().collect();
            let wanted: Vec<_> = wanted.iter().map(|(stage, length)| (*stage, ms(*length))).collect();
            assert_eq!(found, wanted, "{name}");
            assert_eq!(found.iter().map(|(_, length)| *length).sum::<Duration>(), ms(to - from), "{name}");
        }
    }
}
