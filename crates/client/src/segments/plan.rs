//! Which connection fetches which bytes: a state machine without a clock or connections.

/// Minimum size of a request, unless less is left.
const LEAST: u64 = 256 * 1024;
/// Maximum size of a request: the last ones should end together.
const MOST: u64 = 32 << 20;
/// Size of the first request, before anything is known about the file.
pub const PROBE: u64 = 1 << 20;

/// Bytes from the first on, up to before the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub start: u64,
    pub end: u64,
}

impl Span {
    pub fn len(self) -> u64 {
        self.end - self.start
    }
}

/// Spans in order that do not touch each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spans(Vec<Span>);

impl Spans {
    /// Creates a set of spans; `None` if they overlap, touch or are out of order.
    pub fn new(spans: Vec<Span>) -> Option<Spans> {
        let fine = spans.iter().all(|span| span.start < span.end);
        let apart = spans.windows(2).all(|pair| pair[0].end < pair[1].start);
        (fine && apart).then_some(Spans(spans))
    }

    pub fn iter(&self) -> impl Iterator<Item = Span> + '_ {
        self.0.iter().copied()
    }

    pub fn total(&self) -> u64 {
        self.iter().map(Span::len).sum()
    }

    pub fn end(&self) -> u64 {
        self.0.last().map_or(0, |span| span.end)
    }

    pub fn add(&mut self, span: Span) {
        if span.start >= span.end {
            return;
        }
        let first = self.0.partition_point(|known| known.end < span.start);
        let behind = self.0.partition_point(|known| known.start <= span.end);
        let (mut start, mut end) = (span.start, span.end);
        if first < behind {
            start = start.min(self.0[first].start);
            end = end.max(self.0[behind - 1].end);
        }
        self.0.splice(first..behind, [Span { start, end }]);
    }

    /// Returns the missing spans up to the size.
    fn gaps(&self, size: u64) -> Vec<Span> {
        let starts = std::iter::once(0).chain(self.iter().map(|span| span.end));
        let ends = self.iter().map(|span| span.start).chain([size]);
        starts.zip(ends).filter(|(start, end)| start < end).map(|(start, end)| Span { start, end }).collect()
    }
}

/// The span that a connection fetches.
#[derive(Clone, Copy, Debug)]
struct Busy {
    worker: usize,
    left: Span,
}

/// A file of known size on its way.
#[derive(Clone, Debug)]
pub struct Plan {
    size: u64,
    done: Spans,
    busy: Vec<Busy>,
}

impl Plan {
    pub fn new(size: u64, done: Spans) -> Plan {
        Plan { size, done, busy: Vec::new() }
    }

    pub fn size(&self) -> u64 {
        self.size
    }

    pub fn done(&self) -> &Spans {
        &self.done
    }

    pub fn is_complete(&self) -> bool {
        self.done.total() == self.size
    }

    /// Returns the span for a worker without work, given the number of workers. If nothing is free, the
    /// worker with the largest rest gives up half of it, unless that is too little.
    pub fn take(&mut self, worker: usize, workers: usize) -> Option<Span> {
        debug_assert!(self.busy.iter().all(|busy| busy.worker != worker));
        let mut taken = self.done.clone();
        self.busy.iter().for_each(|busy| taken.add(busy.left));
        let gaps = taken.gaps(self.size);
        let free: u64 = gaps.iter().map(|gap| gap.len()).sum();
        let left = match gaps.first() {
            Some(gap) => {
                let share = (free / (2 * workers.max(1) as u64)).clamp(LEAST, MOST);
                // No tiny rest is left.
                let length = if gap.len() < share + LEAST { gap.len() } else { share };
                Span { start: gap.start, end: gap.start + length }
            }
            None => {
                let slow = self.busy.iter_mut().max_by_key(|busy| busy.left.len())?;
                if slow.left.len() < 2 * LEAST {
                    return None;
                }
                let middle = slow.left.start + slow.left.len() / 2;
                let left = Span { start: middle, end: slow.left.end };
                slow.left.end = middle;
                left
            }
        };
        self.busy.push(Busy { worker, left });
        Some(left)
    }

    /// Assigns a span that no worker has.
    pub fn claim(&mut self, worker: usize, span: Span) {
        self.busy.push(Busy { worker, left: span });
    }

    /// Returns where a worker's next byte belongs, and how many are still wanted of it.
    pub fn room(&self, worker: usize) -> Span {
        let busy = self.busy.iter().find(|busy| busy.worker == worker);
        busy.map_or(Span { start: 0, end: 0 }, |busy| busy.left)
    }

    /// Records that so many bytes of a worker have been written.
    pub fn record(&mut self, worker: usize, count: u64) {
        let Some(busy) = self.busy.iter_mut().find(|busy| busy.worker == worker) else { return };
        let start = busy.left.start;
        busy.left.start += count.min(busy.left.len());
        let end = busy.left.start;
        self.done.add(Span { start, end });
    }

    /// Releases the rest of a worker that has ended.
    pub fn release(&mut self, worker: usize) {
        self.busy.retain(|busy| busy.worker != worker);
    }
}

/// How many connections are worth having, when that was not said: one more as long as the last one has made
/// it faster.
#[derive(Clone, Debug, Default)]
pub struct Growth {
    connections: usize,
    before: u64,
}

impl Growth {
    pub const FIRST: usize = 2;
    const MOST: usize = 16;

    pub fn connections(&self) -> usize {
        self.connections.max(Growth::FIRST)
    }

    /// Adds the bytes received in the last period.
    pub fn record(&mut self, bytes: u64) {
        self.connections = self.connections();
        if bytes > self.before + self.before / 5 && self.connections < Growth::MOST {
            self.connections += 1;
        }
        self.before = self.before.max(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: u64, end: u64) -> Span {
        Span { start, end }
    }

    #[test]
    fn spans_grow_together() {
        let mut spans = Spans::default();
        for (start, end) in [(10, 20), (30, 40), (0, 5), (20, 25), (5, 10), (24, 31), (7, 7)] {
            spans.add(span(start, end));
        }
        assert_eq!(spans.iter().collect::<Vec<_>>(), [span(0, 40)]);
        spans.add(span(50, 60));
        assert_eq!(spans.gaps(70), [span(40, 50), span(60, 70)]);
        assert!(Spans::new(vec![span(0, 5), span(5, 6)]).is_none());
        assert!(Spans::new(vec![span(3, 3)]).is_none());
    }

    #[test]
    fn a_laggard_gives_half_away() {
        let mut plan = Plan::new(4 << 20, Spans::default());
        plan.claim(0, span(0, 4 << 20));
        assert_eq!(plan.take(1, 2), Some(span(2 << 20, 4 << 20)));
        assert_eq!(plan.room(0), span(0, 2 << 20));
        plan.record(0, (2 << 20) - 1000);
        plan.release(1);
        plan.claim(1, span(2 << 20, (2 << 20) + 2000));
        plan.claim(2, span((2 << 20) + 2000, 4 << 20));
        plan.release(2);
        assert_eq!(plan.take(3, 2).unwrap().start, (2 << 20) + 2000);
    }

    /// Whatever the workers' rates, failures and returns, each byte is assigned once, and all arrive.
    #[test]
    fn each_byte_is_fetched_once() {
        for seed in 1..200u64 {
            let mut dice = seed;
            let mut roll = |most: u64| {
                dice = dice.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (dice >> 33) % most
            };
            let size = 1 + roll(20 << 20);
            let mut plan = Plan::new(size, Spans::default());
            let mut fetched = 0;
            let mut working = [false; 5];
            for _ in 0..100_000 {
                if plan.is_complete() {
                    break;
                }
                let worker = roll(5) as usize;
                if !working[worker] {
                    working[worker] = plan.take(worker, 5).is_some();
                    continue;
                }
                let room = plan.room(worker);
                if room.len() == 0 || roll(20) == 0 {
                    plan.release(worker);
                    working[worker] = false;
                    continue;
                }
                let count = (1 + roll(200_000)).min(room.len());
                let before = plan.done().total();
                plan.record(worker, count);
                assert_eq!(plan.done().total(), before + count, "seed {seed}: bytes came twice");
                fetched += count;
            }
            assert_eq!(fetched, size, "seed {seed}");
        }
    }

    #[test]
    fn connections_are_added_while_that_helps() {
        let mut growth = Growth::default();
        let counts: Vec<usize> = [100, 190, 200, 200, 260]
            .map(|bytes| {
                growth.record(bytes);
                growth.connections()
            })
            .to_vec();
        assert_eq!(counts, [3, 4, 4, 4, 5]);
    }
}
