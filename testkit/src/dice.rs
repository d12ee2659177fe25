//! Deterministic random numbers for tests that mutate their input, so that a failure repeats.

/// xorshift64 (Marsaglia 2003).
pub struct Dice(u64);

impl Dice {
    /// `seed` is not zero.
    pub fn new(seed: u64) -> Dice {
        assert_ne!(seed, 0, "nothing but zeros would come of it");
        Dice(seed)
    }

    /// A number below `sides`.
    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides as u64) as usize
    }
}
