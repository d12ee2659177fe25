//! The options of libcurl that flags have set.

use crate::bytes::Bytes;

/// The value of an option of libcurl.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Text(Bytes),
    Long(i64),
    List(Vec<Bytes>),
}

/// Options by name, in the order in which they were first given.
#[derive(Clone, Debug, Default)]
pub struct Options(Vec<(&'static str, Value)>);

impl Options {
    pub fn set(&mut self, name: &'static str, value: Value) {
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some(slot) => slot.1 = value,
            None => self.0.push((name, value)),
        }
    }

    pub fn set_text(&mut self, name: &'static str, text: &[u8]) {
        self.set(name, Value::Text(text.to_vec()));
    }

    pub fn set_long(&mut self, name: &'static str, number: i64) {
        self.set(name, Value::Long(number));
    }

    pub fn push(&mut self, name: &'static str, entry: &[u8]) {
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, Value::List(list))) => list.push(entry.to_vec()),
            _ => self.set(name, Value::List(vec![entry.to_vec()])),
        }
    }

    /// Sets or clears bits of a mask.
    pub fn bits(&mut self, name: &'static str, bits: i64, on: bool) {
        let mask = self.long(name).unwrap_or(0);
        self.set_long(name, if on { mask | bits } else { mask & !bits });
    }

    pub fn iter(&self) -> impl Iterator<Item = &(&'static str, Value)> {
        self.0.iter()
    }

    pub fn clear(&mut self, name: &str) {
        self.0.retain(|(known, _)| *known != name);
    }

    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    pub fn text(&self, name: &str) -> Option<&[u8]> {
        match self.get(name) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    pub fn long(&self, name: &str) -> Option<i64> {
        match self.get(name) {
            Some(Value::Long(number)) => Some(*number),
            _ => None,
        }
    }

    /// A switch that was given; false when it was not.
    pub fn is_on(&self, name: &str) -> bool {
        self.long(name).unwrap_or(0) != 0
    }

    pub fn list(&self, name: &str) -> &[Bytes] {
        match self.get(name) {
            Some(Value::List(list)) => list,
            _ => &[],
        }
    }
}
