//! The values of the options that were given. An application gives a dozen of the few hundred there are: these stand
//! side by side in the order of the options' numbers, and a bit for each option says whether it is among them.
//!
//! Measured: a request asks for some fifty options. In a table of all of them that was a cache line each, cold after every
//! wait; the bits are one line together, and an option that was not given costs no more.

use std::rc::Rc;

use zeroize::Zeroize;

use super::{O, Text};

/// One stored option.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// Not set: the default applies.
    #[default]
    Unset,
    /// A number.
    Long(i64),
    /// A string or a blob.
    Text(Text),
    /// A string list.
    List(Rc<[Text]>),
}

impl Value {
    /// Overwrites a text that nobody else has.
    fn wipe(&mut self) {
        if let Value::Text(text) = self
            && let Some(bytes) = Rc::get_mut(text)
        {
            bytes.zeroize();
        }
    }
}

/// Whose values are not left in memory that has been given back.
const SECRETS: [O; 7] = [
    O::Password,
    O::Proxypassword,
    O::Keypasswd,
    O::ProxyKeypasswd,
    O::Xoauth2Bearer,
    O::SslkeyBlob,
    O::ProxySslkeyBlob,
];

/// Options are numbered from 1 to this.
const SLOTS: usize = 384;

/// All values of a handle.
#[derive(Clone, Default)]
pub struct Values {
    given: [u64; SLOTS / 64],
    list: Vec<Value>,
}

/// Numbers above ten thousand tell the kind of the argument.
const fn slot(option: O) -> usize {
    (option.id() % 10_000) as usize
}

impl Values {
    /// Whether the option was given.
    #[inline]
    pub fn has(&self, option: O) -> bool {
        let slot = slot(option);
        self.given[slot / 64] >> (slot % 64) & 1 != 0
    }

    /// Its value.
    #[inline]
    pub fn get(&self, option: O) -> &Value {
        if self.has(option) { &self.list[self.rank(slot(option))] } else { &Value::Unset }
    }

    /// Changes its value.
    pub fn put(&mut self, option: O, value: Value) {
        let (slot, had) = (slot(option), self.has(option));
        let rank = self.rank(slot);
        let bit = 1 << (slot % 64);
        if SECRETS.contains(&option) {
            self.wipe(option);
        }
        match (had, value) {
            (true, Value::Unset) => {
                self.given[slot / 64] &= !bit;
                self.list.remove(rank);
            }
            (false, Value::Unset) => {}
            (true, value) => self.list[rank] = value,
            (false, value) => {
                self.given[slot / 64] |= bit;
                self.list.insert(rank, value);
            }
        }
    }

    /// The same options with values made from these.
    pub fn map(&self, own: impl FnMut(&Value) -> Value) -> Values {
        Values { given: self.given, list: self.list.iter().map(own).collect() }
    }

    fn wipe(&mut self, option: O) {
        if self.has(option) {
            let rank = self.rank(slot(option));
            self.list[rank].wipe();
        }
    }

    /// How many of the options before this one were given.
    fn rank(&self, slot: usize) -> usize {
        let (word, bit) = (slot / 64, slot % 64);
        let before = self.given[word] & ((1 << bit) - 1);
        let count: u32 = self.given[..word].iter().map(|word| word.count_ones()).sum();
        (count + before.count_ones()) as usize
    }
}

impl Drop for Values {
    fn drop(&mut self) {
        SECRETS.into_iter().for_each(|option| self.wipe(option));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_has_a_place_of_its_own() {
        let mut values = Values::default();
        let number = |option: &O| Value::Long(i64::from(option.id()));
        O::ALL.iter().rev().for_each(|option| values.put(*option, number(option)));
        for option in O::ALL {
            assert_eq!(*values.get(*option), number(option), "{}", option.name());
        }
        O::ALL.iter().step_by(2).for_each(|option| values.put(*option, Value::Unset));
        for (index, option) in O::ALL.iter().enumerate() {
            let expected = if index % 2 == 0 { Value::Unset } else { number(option) };
            assert_eq!(*values.get(*option), expected, "{}", option.name());
        }
    }
}
