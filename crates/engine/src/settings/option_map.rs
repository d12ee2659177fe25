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

/// For how many values an emptied map keeps its storage: those of most applications.
const KEPT: usize = 24;

/// A set of options.
#[derive(Clone, Copy, Debug)]
pub struct OptionSet([u64; SLOTS / 64]);

impl OptionSet {
    /// No option.
    pub const EMPTY: OptionSet = OptionSet([0; SLOTS / 64]);

    /// Returns the set with one more.
    pub const fn with(mut self, option: O) -> OptionSet {
        self.0[slot(option) / 64] |= bit(option);
        self
    }

    /// Returns whether an option is in it.
    pub const fn has(&self, option: O) -> bool {
        self.0[slot(option) / 64] & bit(option) != 0
    }

    /// Returns the options that are not in the other set.
    pub const fn without(mut self, other: OptionSet) -> OptionSet {
        let mut at = 0;
        while at < self.0.len() {
            self.0[at] &= !other.0[at];
            at += 1;
        }
        self
    }
}

/// A value for each option that was set.
#[derive(Clone, Debug)]
pub struct OptionMap<T> {
    bits: [u64; SLOTS / 64],
    /// How many options are set in the words before each.
    before: [u16; SLOTS / 64],
    list: Vec<T>,
}

impl<T> Default for OptionMap<T> {
    fn default() -> OptionMap<T> {
        OptionMap { bits: [0; SLOTS / 64], before: [0; SLOTS / 64], list: Vec::new() }
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
        let word = slot(option) / 64;
        self.bits[word] |= bit(option);
        self.before[word + 1..].iter_mut().for_each(|before| *before += 1);
    }

    /// Removes a value.
    pub fn remove(&mut self, option: O) {
        if self.has(option) {
            self.list.remove(self.rank(option));
            let word = slot(option) / 64;
            self.bits[word] &= !bit(option);
            self.before[word + 1..].iter_mut().for_each(|before| *before -= 1);
        }
    }

    /// Removes all values, and keeps a little storage.
    pub fn clear(&mut self) {
        (self.bits, self.before) = ([0; SLOTS / 64], [0; SLOTS / 64]);
        self.list.clear();
        self.list.shrink_to(KEPT);
    }

    /// Returns whether an option of this set was set.
    pub fn has_any(&self, of: OptionSet) -> bool {
        self.bits.iter().zip(of.0).any(|(bits, of)| bits & of != 0)
    }

    /// Returns the values of the options in this set, in the order of their numbers.
    pub fn values_of(&self, set: OptionSet) -> impl Iterator<Item = &T> {
        let words = self.bits.iter().zip(set.0);
        let own = words.flat_map(|(bits, set)| ones(*bits).map(move |bit| set & bit != 0));
        own.zip(&self.list).filter_map(|(chosen, value)| chosen.then_some(value))
    }

    /// Returns the values of the options in this set for modification.
    pub fn values_of_mut(&mut self, set: OptionSet) -> impl Iterator<Item = &mut T> {
        let words = self.bits.iter().zip(set.0);
        let own = words.flat_map(|(bits, set)| ones(*bits).map(move |bit| set & bit != 0));
        own.zip(&mut self.list).filter_map(|(chosen, value)| chosen.then_some(value))
    }

    /// Returns the options of this set that were set, with values made from these.
    pub fn part(&self, set: OptionSet, own: impl FnMut(&T) -> T) -> OptionMap<T> {
        let mut bits = self.bits;
        bits.iter_mut().zip(set.0).for_each(|(bits, set)| *bits &= set);
        let mut before = [0; SLOTS / 64];
        for word in 1..before.len() {
            before[word] = before[word - 1] + bits[word - 1].count_ones() as u16;
        }
        OptionMap { bits, before, list: self.values_of(set).map(own).collect() }
    }

    /// Returns whether the options of this set have the same values in both.
    pub fn agrees(&self, set: OptionSet, other: &OptionMap<T>) -> bool
    where
        T: PartialEq,
    {
        let mut differ =
            self.bits.iter().zip(other.bits).zip(set.0).map(|((own, other), set)| (own ^ other) & set);
        if differ.any(|bits| bits != 0) {
            return false;
        }
        // Lists of options that all belong to the set are compared as they are.
        let whole = |map: &OptionMap<T>| map.bits.iter().zip(set.0).all(|(bits, set)| bits & !set == 0);
        if whole(self) && whole(other) {
            return self.list == other.list;
        }
        !self.has_any(set) || self.values_of(set).eq(other.values_of(set))
    }

    /// Returns the same options with values made from these.
    pub fn map(&self, own: impl FnMut(&T) -> T) -> OptionMap<T> {
        OptionMap { bits: self.bits, before: self.before, list: self.list.iter().map(own).collect() }
    }

    /// Returns how many of the options before this one were set.
    fn rank(&self, option: O) -> usize {
        let word = slot(option) / 64;
        let before = self.bits[word] & (bit(option) - 1);
        usize::from(self.before[word]) + before.count_ones() as usize
    }
}

/// The bits of a word that are set, each by itself.
fn ones(word: u64) -> impl Iterator<Item = u64> {
    let rest = |word: &u64| Some(*word & (*word - 1)).filter(|rest| *rest != 0);
    let first = (word != 0).then_some(word);
    std::iter::successors(first, rest).map(|word| word & word.wrapping_neg())
}

/// The option's bit in its word.
const fn bit(option: O) -> u64 {
    1 << (slot(option) % 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_agrees_with_maps_that_differ_elsewhere() {
        const SET: OptionSet = OptionSet::EMPTY.with(O::Port).with(O::Proxy).with(O::CaInfo);
        let map = |values: &[(O, u8)]| {
            let mut map = OptionMap::default();
            values.iter().for_each(|(option, value)| map.put(*option, *value));
            map
        };
        let whole = map(&[(O::Url, 1), (O::Port, 2), (O::CaInfo, 3), (O::Timeout, 4)]);
        let part = whole.part(SET, |value| *value);
        assert_eq!(part.list, [2, 3]);
        assert_eq!([O::Port, O::CaInfo].map(|option| part.get(option).copied()), [Some(2), Some(3)]);
        assert!(whole.has_any(SET) && !whole.has_any(OptionSet::EMPTY.with(O::Proxy)));
        assert!(!whole.has_any(SET.without(SET)));
        let rows: [(&str, &[(O, u8)], bool); 5] = [
            ("an option outside differs", &[(O::Url, 9), (O::Port, 2), (O::CaInfo, 3)], true),
            ("a value differs", &[(O::Port, 9), (O::CaInfo, 3)], false),
            ("one is missing", &[(O::Port, 2)], false),
            ("there is one more", &[(O::Port, 2), (O::Proxy, 2), (O::CaInfo, 3)], false),
            ("none is set", &[], false),
        ];
        for (name, values, agrees) in rows {
            assert_eq!(map(values).agrees(SET, &part), agrees, "{name}");
            assert_eq!(map(values).agrees(SET, &whole), agrees, "{name}: {whole:?}");
        }
        assert!(map(&[(O::Url, 1)]).agrees(SET, &map(&[])));
        let mut changed = map(&[(O::Url, 1), (O::Port, 2), (O::CaInfo, 3), (O::Timeout, 4)]);
        changed.values_of_mut(SET).for_each(|value| *value += 5);
        assert_eq!(changed.list, [1, 7, 4, 8], "in the order of the options' numbers");
    }

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
