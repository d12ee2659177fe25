//! A lossy path for datagrams: some are lost, duplicated, late or too large. It is a relay in user space, in
//! front of any UDP server, without root. A seed decides the fate of each datagram, separately for each
//! direction.

use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::dice::Dice;
use crate::stop::{Signal, Stop, Woken};

/// The faults of the path. The first three are per thousand datagrams.
#[derive(Clone, Copy, Debug)]
pub struct Faults {
    pub lost: usize,
    pub doubled: usize,
    /// Overtaken by the next one, or delivered after [`LATE`].
    pub late: usize,
    /// Larger ones get lost.
    pub largest: usize,
    /// After that many datagrams of a client, and repeatedly, its address changes for the server, as behind a
    /// NAT that has lost its state; 0 is never.
    pub moves: usize,
    pub seed: u64,
}

/// No datagram is later than this.
const LATE: Duration = Duration::from_millis(10);

/// The path to a server; it ends when dropped.
pub struct LossyPath {
    address: SocketAddr,
    _stop: Stop,
    counts: Arc<Counts>,
}

struct Counts {
    /// No more pass.
    most: usize,
    passed: AtomicUsize,
    lost: AtomicUsize,
    too_large: AtomicUsize,
    moved: AtomicUsize,
}

impl LossyPath {
    pub fn to(server: SocketAddr, faults: Faults) -> io::Result<LossyPath> {
        LossyPath::up_to(server, faults, usize::MAX)
    }

    /// Creates a path that loses nothing until `most` datagrams, of both sides together, have passed, and
    /// everything afterwards.
    pub fn dead_after(server: SocketAddr, most: usize) -> io::Result<LossyPath> {
        let faults = Faults { lost: 0, doubled: 0, late: 0, largest: usize::MAX, moves: 0, seed: 1 };
        LossyPath::up_to(server, faults, most)
    }

    fn up_to(server: SocketAddr, faults: Faults, most: usize) -> io::Result<LossyPath> {
        let near = UdpSocket::bind("127.0.0.1:0")?;
        let counts = Arc::new(Counts::new(most));
        let (address, stop) = (near.local_addr()?, Stop::new()?);
        let (signal, counts_there) = (stop.signal(), counts.clone());
        thread::Builder::new().name("lossy".into()).spawn(move || {
            let _ = relay(&near, server, faults, &signal, &counts_there);
        })?;
        Ok(LossyPath { address, _stop: stop, counts })
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// How often a client's address has changed.
    pub fn moves(&self) -> usize {
        self.counts.moved.load(Ordering::Relaxed)
    }

    /// How many datagrams have come through, were lost by chance, and were too large.
    pub fn counts(&self) -> (usize, usize, usize) {
        let Counts { passed, lost, too_large, .. } = &*self.counts;
        (passed.load(Ordering::Relaxed), lost.load(Ordering::Relaxed), too_large.load(Ordering::Relaxed))
    }
}

impl Counts {
    fn new(most: usize) -> Counts {
        let zero = AtomicUsize::default;
        Counts { most, passed: zero(), lost: zero(), too_large: zero(), moved: zero() }
    }
}

/// Relays from clients to the server, each by its own socket; and back, by a thread for each.
fn relay(
    near: &UdpSocket,
    server: SocketAddr,
    faults: Faults,
    signal: &Signal,
    counts: &Arc<Counts>,
) -> io::Result<()> {
    let mut clients: HashMap<SocketAddr, (UdpSocket, Lane)> = HashMap::new();
    let mut ways = 0;
    let mut scratch = vec![0; 1 << 16];
    loop {
        match signal.wait(near, Some(LATE)) {
            Woken::Stopped => return Ok(()),
            Woken::TimedOut => {
                for (far, lane) in clients.values_mut() {
                    lane.hurry(|datagram| drop(far.send(datagram)));
                }
                continue;
            }
            Woken::Readable => {}
        }
        let Ok((n, client)) = near.recv_from(&mut scratch) else { continue };
        let moves =
            clients.get(&client).is_some_and(|(_, lane)| faults.moves > 0 && lane.seen >= faults.moves);
        if moves || !clients.contains_key(&client) {
            let far = UdpSocket::bind("127.0.0.1:0")?;
            far.connect(server)?;
            ways += 1;
            counts.moved.fetch_add(usize::from(moves), Ordering::Relaxed);
            let lane = |way| Lane::new(faults, faults.seed + 2 * ways + way, counts.clone());
            let (from, to, signal, mut back) = (far.try_clone()?, near.try_clone()?, signal.clone(), lane(1));
            thread::spawn(move || give_back(&from, &to, client, &signal, &mut back));
            clients.insert(client, (far, lane(0)));
        }
        if let Some((far, lane)) = clients.get_mut(&client) {
            lane.pass(&scratch[..n], |datagram| drop(far.send(datagram)));
        }
    }
}

fn give_back(far: &UdpSocket, near: &UdpSocket, client: SocketAddr, signal: &Signal, lane: &mut Lane) {
    let mut scratch = vec![0; 1 << 16];
    let send = |datagram: &[u8]| drop(near.send_to(datagram, client));
    loop {
        match signal.wait(far, Some(LATE)) {
            Woken::Stopped => return,
            Woken::TimedOut => lane.hurry(send),
            Woken::Readable => {
                if let Ok(n) = far.recv(&mut scratch) {
                    lane.pass(&scratch[..n], send);
                }
            }
        }
    }
}

/// A direction for one client.
struct Lane {
    faults: Faults,
    dice: Dice,
    held: Option<Vec<u8>>,
    seen: usize,
    counts: Arc<Counts>,
}

impl Lane {
    fn new(faults: Faults, seed: u64, counts: Arc<Counts>) -> Lane {
        Lane { faults, dice: Dice::new(seed), held: None, seen: 0, counts }
    }

    fn pass(&mut self, datagram: &[u8], mut send: impl FnMut(&[u8])) {
        let Faults { lost, doubled, late, largest, .. } = self.faults;
        self.seen += 1;
        let count = |counter: &AtomicUsize| counter.fetch_add(1, Ordering::Relaxed);
        let [is_lost, is_doubled, is_late] = [lost, doubled, late].map(|of| self.dice.roll(1000) < of);
        if datagram.len() > largest {
            count(&self.counts.too_large);
            return;
        }
        if is_lost {
            count(&self.counts.lost);
            return;
        }
        if count(&self.counts.passed) >= self.counts.most {
            return;
        }
        if is_late && self.held.is_none() {
            self.held = Some(datagram.to_vec());
            return;
        }
        send(datagram);
        if is_doubled {
            send(datagram);
        }
        self.hurry(send);
    }

    /// Sends the held datagrams now.
    fn hurry(&mut self, mut send: impl FnMut(&[u8])) {
        if let Some(held) = self.held.take() {
            send(&held);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what arrives of a thousand numbered datagrams.
    fn through(faults: Faults) -> Vec<u16> {
        let (mut lane, mut out) =
            (Lane::new(faults, faults.seed, Arc::new(Counts::new(usize::MAX))), Vec::new());
        for number in 0..1000_u16 {
            lane.pass(&number.to_be_bytes(), |datagram| {
                out.push(u16::from_be_bytes([datagram[0], datagram[1]]))
            });
        }
        lane.hurry(|datagram| out.push(u16::from_be_bytes([datagram[0], datagram[1]])));
        out
    }

    #[test]
    fn one_seed_repeats_one_sequence() {
        let none = Faults { lost: 0, doubled: 0, late: 0, largest: 1200, moves: 0, seed: 1 };
        assert_eq!(through(none), (0..1000).collect::<Vec<_>>());
        assert_eq!(through(Faults { largest: 1, ..none }), []);
        let some = Faults { lost: 100, doubled: 50, late: 50, ..none };
        let out = through(some);
        assert_eq!(out, through(some));
        assert_ne!(out, through(Faults { seed: 2, ..some }));
        let swapped = out.windows(2).filter(|pair| pair[1] < pair[0]).count();
        let doubled = out.windows(2).filter(|pair| pair[1] == pair[0]).count();
        let mut once = out.clone();
        once.sort_unstable();
        once.dedup();
        assert!(
            (850..950).contains(&once.len()) && swapped > 20 && doubled > 20,
            "{} {swapped} {doubled}",
            once.len()
        );
    }
}
