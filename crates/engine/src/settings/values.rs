//! The values of the options that were set.

use std::convert::Infallible;
use std::ops::Deref;
use std::rc::Rc;

use zeroize::Zeroize;

use super::option_map::{OptionMap, OptionSet};
use super::{O, Text, own_text};

/// A stored value: texts are shared with their readers, and forms are stored elsewhere.
pub type Value = tables::Value<Text, Rc<[Text]>, Infallible>;

/// The options whose values are overwritten before their memory is freed.
const SECRETS: OptionSet = {
    let (mut set, mut at) = (OptionSet::EMPTY, 0);
    while at < O::ALL.len() {
        if O::ALL[at].is_secret() {
            set = set.with(O::ALL[at]);
        }
        at += 1;
    }
    set
};

/// Overwrites a text without other owners.
fn wipe(value: &mut Value) {
    if let Value::Text(text) = value
        && let Some(bytes) = Rc::get_mut(text)
    {
        bytes.zeroize();
    }
}

/// All values of a handle.
#[derive(Clone, Default)]
pub struct Values(OptionMap<Value>);

impl Values {
    /// The option's value.
    #[inline]
    pub fn get(&self, option: O) -> &Value {
        self.0.get(option).unwrap_or(&Value::Default)
    }

    /// Changes its value.
    pub fn put(&mut self, option: O, value: Value) {
        if SECRETS.has(option)
            && let Some(before) = self.0.get_mut(option)
        {
            wipe(before);
        }
        match value {
            Value::Default => self.0.remove(option),
            value => self.0.put(option, value),
        }
    }

    /// Returns the same options with values made from these.
    pub fn map(&self, own: impl FnMut(&Value) -> Value) -> Values {
        Values(self.0.map(own))
    }

    /// Forgets all values, and keeps the storage.
    pub fn clear(&mut self) {
        self.wipe_secrets();
        self.0.clear();
    }

    /// Returns whether an option of this set was set.
    pub fn has_any(&self, of: OptionSet) -> bool {
        self.0.has_any(of)
    }

    /// Returns the options of this set that were set, with values made from these.
    pub fn part(&self, set: OptionSet, own: impl FnMut(&Value) -> Value) -> OptionMap<Value> {
        self.0.part(set, own)
    }

    /// Returns whether the options of this set have the same values in both.
    pub fn agrees(&self, set: OptionSet, other: &OptionMap<Value>) -> bool {
        self.0.agrees(set, other)
    }

    /// Returns the values by option.
    pub fn by_option(&self) -> &OptionMap<Value> {
        &self.0
    }

    /// Most handles have no secret: then nothing is searched.
    fn wipe_secrets(&mut self) {
        if self.0.has_any(SECRETS) {
            self.0.values_of_mut(SECRETS).for_each(wipe);
        }
    }
}

/// A string list; one that is not set is empty.
#[derive(Default)]
pub struct List(Option<Rc<[Text]>>);

impl Deref for List {
    type Target = [Text];

    fn deref(&self) -> &[Text] {
        self.0.as_deref().unwrap_or_default()
    }
}

impl From<Rc<[Text]>> for List {
    fn from(list: Rc<[Text]>) -> List {
        List(Some(list))
    }
}

/// Copies a value for another owner ([`own_text`]).
pub fn own_value(value: &Value) -> Value {
    match value {
        Value::Default => Value::Default,
        Value::Long(number) => Value::Long(*number),
        Value::Text(value) => Value::Text(own_text(value)),
        Value::List(list) => Value::List(list.iter().map(own_text).collect()),
        Value::Form(never) => match *never {},
    }
}

impl Drop for Values {
    fn drop(&mut self) {
        self.wipe_secrets();
    }
}
