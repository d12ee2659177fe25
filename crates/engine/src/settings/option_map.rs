//! Values of the options that were set, of which an application sets a dozen. They are stored side by side in
//! the order of the options' numbers, and a bit for each option says whether it is there.
//!
//! Measured: a request reads some fifty options. In a table of all options each was a cache line, cold after
//! every wait; the bits share one line, and an unset option costs no more.

use tables::EasyOption as O;

/// Options are numbered from 1 to this.
const SLOTS: usize = 384;

/// Room is made for so many more at a time: ten thousand handles have little that stays empty.
const MORE: usize = 2;

/// A value for each option that was set.
#[derive(Clone, Debug)]
pub struct OptionMap<T> {
    bits: [u64; SLOTS / 64],
    list: Vec<T>,
}

impl<T> Default for OptionMap<T> {
    fn default() -> OptionMap<T> {
        OptionMap { bits: [0; SLOTS / 64], list: Vec::new() }
    }
}

/// Returns the index of an option; multiples of ten thousand encode the kind of the argument.
const fn slot(option: O) -> usize {
    (option.id() % 10_000) as usize
}

impl<T> OptionMap<T> {
    /// Returns whether the option was set.
    #[inline]
    pub fn has(&self, option: O) -> bool {
        let slot = slot(option);
        self.bits[slot / 64] >> (slot % 64) & 1 != 0
    }

    /// Returns the value, if it was set.
    #[inline]
    pub fn get(&self, option: O) -> Option<&T> {
        if self.has(option) { Some(&self.list[self.rank(option)]) } else { None }
    }

    /// Returns the value for modification.
    pub fn get_mut(&mut self, option: O) -> Option<&mut T> {
        if self.has(option) {
            let rank = self.rank(option);
            Some(&mut self.list[rank])
        } else {
            None
        }
    }

    /// Sets a value, replacing an earlier one.
    pub fn put(&mut self, option: O, value: T) {
        if let Some(known) = self.get_mut(option) {
            *known = value;
            return;
        }
        if self.list.len() == self.list.capacity() {
            self.list.reserve_exact(MORE);
        }
        self.list.insert(self.rank(option), value);
        self.bits[slot(option) / 64] |= bit(option);
    }

    /// Removes a value.
    pub fn remove(&mut self, option: O) {
        if self.has(option) {
            self.list.remove(self.rank(option));
            self.bits[slot(option) / 64] &= !bit(option);
        }
    }

    /// Returns the same options with values made from these.
    pub fn map(&self, own: impl FnMut(&T) -> T) -> OptionMap<T> {
        OptionMap { bits: self.bits, list: self.list.iter().map(own).collect() }
    }

    /// Returns how many of the options before this one were set.
    fn rank(&self, option: O) -> usize {
        let word = slot(option) / 64;
        let before = self.bits[word] & (bit(option) - 1);
        let count: u32 = self.bits[..word].iter().map(|word| word.count_ones()).sum();
        (count + before.count_ones()) as usize
    }
}

/// The option's bit in its word.
const fn bit(option: O) -> u64 {
    1 << (slot(option) % 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_has_a_place_of_its_own() {
        let mut given = OptionMap::default();
        O::ALL.iter().rev().for_each(|option| given.put(*option, option.id()));
        for option in O::ALL {
            assert_eq!(given.get(*option), Some(&option.id()), "{}", option.name());
        }
        O::ALL.iter().step_by(2).for_each(|option| given.remove(*option));
        for (index, option) in O::ALL.iter().enumerate() {
            let expected = (index % 2 != 0).then(|| option.id());
            assert_eq!(given.get(*option).copied(), expected, "{}", option.name());
        }
    }
}
