//! Readability of one descriptor, as a value: which reports came, and which reads followed them.
//!
//! An application's event loop may be edge-triggered. It then reports bytes and the end that came with them
//! once, so that a short read does not prove that nothing is left: a receive that answers EAGAIN does. For a
//! long stream that is one receive for each event. A reader that needs no end, because the framing says
//! where its body ends, may leave it out ([`ReadState::settle`]). The state is then in doubt, and the reactor
//! lets it be read again after a while. What such a check finds is an end or an error before its time.

/// So many receives in a row must have found nothing before one is left out: short bodies cause no timer.
const EMPTY_READS: u8 = 8;

/// The readability of a descriptor.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReadState {
    readable: bool,
    /// The end or an error was reported: reads go on until 0, EAGAIN or the error.
    ended: bool,
    /// The report came from an application's loop, which may be edge-triggered.
    edge: bool,
    /// A read since the report has not filled its buffer.
    short: bool,
    doubtful: bool,
    /// Receives in a row that found nothing after a short read.
    empty_reads: u8,
}

impl ReadState {
    /// Returns whether a receive may find something.
    pub(crate) fn is_readable(self) -> bool {
        self.readable
    }

    /// Returns whether an end may have been left unread.
    pub(crate) fn is_doubtful(self) -> bool {
        self.doubtful
    }

    /// Records a report.
    #[inline]
    pub(crate) fn report(&mut self, ended: bool, edge: bool) {
        self.readable = true;
        self.ended |= ended;
        self.edge |= edge;
        (self.short, self.doubtful) = (false, false);
    }

    /// Records a read that did not fill its buffer. It emptied the descriptor, unless an end came along.
    /// Returns whether the descriptor counts as readable still.
    #[inline]
    pub(crate) fn short_read(&mut self) -> bool {
        if self.short {
            self.empty_reads = 0; // the read after the last short one found something
        }
        self.short = true;
        self.readable = self.ended || self.edge;
        self.readable
    }

    /// Records that a receive answered EAGAIN.
    #[inline]
    pub(crate) fn dry(&mut self) {
        if self.edge && self.short {
            self.empty_reads = self.empty_reads.saturating_add(1);
        }
        *self = ReadState { empty_reads: self.empty_reads, ..ReadState::default() };
    }

    /// Records after a read that the reader needs no end of the stream now. Returns true if the next receive
    /// is left out from here on, and the state is in doubt.
    #[inline]
    pub(crate) fn settle(&mut self) -> bool {
        let sure = self.edge && self.short && !self.ended && self.empty_reads >= EMPTY_READS;
        if !sure || self.doubtful {
            return false;
        }
        (self.readable, self.doubtful) = (false, true);
        true
    }

    /// Lets a state in doubt be read again, to EAGAIN. The next receives of the stream are not left out.
    pub(crate) fn check(&mut self) {
        *self = ReadState { readable: true, edge: true, ..ReadState::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A descriptor of the kernel behind an edge-triggered loop: bytes and an end that arrive before the
    /// loop looks are one report.
    #[derive(Default)]
    struct Kernel {
        bytes: usize,
        ended: bool,
        reported: bool,
    }

    impl Kernel {
        fn holds_something(&self) -> bool {
            self.bytes > 0 || self.ended
        }
    }

    fn random(seed: &mut u64) -> u64 {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        *seed
    }

    /// The buffer of a read.
    const BUFFER: usize = 4;

    /// Reads as `Socket::poll_recv` does. Returns false when the reader has to wait.
    fn read(state: &mut ReadState, kernel: &mut Kernel, settles: bool) -> bool {
        if !state.is_readable() {
            return false;
        }
        match kernel.bytes.min(BUFFER) {
            0 if kernel.ended => kernel.ended = false, // the reader has the end
            0 => {
                state.dry();
                return false;
            }
            n => {
                kernel.bytes -= n;
                if n < BUFFER {
                    state.short_read();
                }
                if settles {
                    state.settle();
                }
            }
        }
        true
    }

    /// Whatever arrives, and whenever it is read, the reader comes to have it: by a report that is still to
    /// come, by a state that says readable, or by the check of one in doubt. Without settling no check is
    /// needed.
    #[test]
    fn nothing_is_lost_to_an_edge_triggered_loop() {
        let mut left_out = 0;
        for case in 1..4000_u64 {
            let mut seed = case.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let settles = case % 4 > 0;
            let (mut state, mut kernel) = (ReadState::default(), Kernel::default());
            for step in 0..200 {
                match random(&mut seed) % 8 {
                    0..3 => {
                        kernel.bytes += random(&mut seed) as usize % 6 + 1;
                        kernel.reported = true;
                    }
                    3 if step > 150 => (kernel.ended, kernel.reported) = (true, true),
                    // A loop that is level-triggered or looks by chance.
                    4 if kernel.holds_something() => state.report(random(&mut seed).is_multiple_of(8), true),
                    _ if std::mem::take(&mut kernel.reported) && kernel.holds_something() => {
                        state.report(false, true);
                        while read(&mut state, &mut kernel, settles) {
                            if random(&mut seed).is_multiple_of(4) {
                                // More comes between two reads, with a report of its own.
                                kernel.bytes += random(&mut seed) as usize % 6;
                                kernel.reported |= kernel.bytes > 0;
                            }
                        }
                    }
                    _ => while read(&mut state, &mut kernel, settles) {},
                }
                assert!(settles || !state.is_doubtful());
                left_out += usize::from(state.is_doubtful());
                let comes = kernel.reported || state.is_readable() || state.is_doubtful();
                assert!(!kernel.holds_something() || comes, "case {case}, step {step}: {state:?}");
            }
            state.check();
            while read(&mut state, &mut kernel, settles) {}
            assert!(!kernel.holds_something());
        }
        assert!(left_out > 10_000, "{left_out}");
    }

    #[test]
    fn a_receive_is_left_out_only_in_a_long_stream_without_an_end() {
        let mut state = ReadState::default();
        let event = |state: &mut ReadState, ended: bool, edge: bool| {
            state.report(ended, edge);
            state.short_read();
            let left_out = state.settle();
            if !left_out {
                state.dry();
            }
            left_out
        };
        for _ in 0..EMPTY_READS {
            assert!(!event(&mut state, false, true), "a short stream");
        }
        assert!(event(&mut state, false, true));
        assert!(event(&mut state, false, true));
        assert!(!event(&mut state, true, true), "an error was reported");
        assert!(event(&mut state, false, true));
        state.report(false, true);
        assert!(!state.settle(), "the buffer was filled: more may be there");
        state.short_read();
        assert!(state.settle());
        assert!(!state.settle(), "it is in doubt already");
        state.check();
        state.dry();
        assert!(!event(&mut state, false, true), "it paused for longer than the check waits");
    }

    #[test]
    fn our_own_waits_take_a_short_read_for_the_last() {
        let mut state = ReadState::default();
        state.report(false, false);
        assert!(!state.short_read());
        state.report(true, false);
        assert!(state.short_read(), "the end came along");
        state.dry();
        assert!(!state.is_readable());
    }
}
