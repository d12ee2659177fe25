//! The options of libcurl that flags have set.

use crate::bytes::Bytes;
use crate::form::part::Part;
use crate::raw::{EasyOption, Priority};

/// An option of the tool's own, which libcurl does not have under that name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolOption {
    Compressed,
    DumpHeader,
    EtagCompare,
    EtagSave,
    IpTos,
    IpfsGateway,
    KeepaliveTime,
    /// The private key, which is one for TLS or for SSH as the URL decides.
    Key,
    OutputDir,
    Priority,
    /// The command that stands for a proxy.
    ProxyCommand,
    Raw,
    VlanPriority,
    WriteOut,
}

impl ToolOption {
    /// Returns whether the option reveals nothing about the user, and also applies to a URL named by a
    /// document or a server ([`EasyOption::is_impersonal`]).
    pub const fn is_impersonal(self) -> bool {
        match self {
            Self::DumpHeader | Self::EtagSave | Self::IpTos | Self::KeepaliveTime => true,
            Self::OutputDir | Self::Priority | Self::ProxyCommand => true,
            Self::VlanPriority | Self::WriteOut => true,
            Self::Compressed | Self::EtagCompare | Self::IpfsGateway | Self::Key | Self::Raw => false,
        }
    }
}

/// An option that a flag sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// An option of the library.
    Lib(EasyOption),
    /// An option of the tool.
    Tool(ToolOption),
}

impl Key {
    /// Returns whether the option reveals nothing about the user. An option without this mark applies only to
    /// the user's own URL.
    pub const fn is_impersonal(self) -> bool {
        match self {
            Key::Lib(option) => option.is_impersonal(),
            Key::Tool(option) => option.is_impersonal(),
        }
    }
}

impl From<EasyOption> for Key {
    fn from(option: EasyOption) -> Key {
        Key::Lib(option)
    }
}

impl From<ToolOption> for Key {
    fn from(option: ToolOption) -> Key {
        Key::Tool(option)
    }
}

/// The value of an option. Parts of a form are not read before the transfer starts.
pub type Value = crate::raw::Value<Vec<Part>>;

/// Options in the order in which they were first set.
#[derive(Clone, Debug, Default)]
pub struct Options(Vec<(Key, Value)>);

impl Options {
    pub fn set(&mut self, key: impl Into<Key>, value: Value) {
        let key = key.into();
        match self.slot(key) {
            Some(slot) => *slot = value,
            None => self.0.push((key, value)),
        }
    }

    /// Returns the value of `--priority`.
    pub fn priority(&self) -> Option<Priority> {
        str::from_utf8(self.text(ToolOption::Priority)?).ok()?.parse().ok()
    }

    pub fn set_text(&mut self, key: impl Into<Key>, text: &[u8]) {
        self.set(key, Value::Text(text.to_vec()));
    }

    pub fn set_long(&mut self, key: impl Into<Key>, number: i64) {
        self.set(key, Value::Long(number));
    }

    pub fn push(&mut self, key: impl Into<Key>, entry: &[u8]) {
        let key = key.into();
        match self.slot(key) {
            Some(Value::List(list)) => list.push(entry.to_vec()),
            _ => self.set(key, Value::List(vec![entry.to_vec()])),
        }
    }

    /// Sets or clears bits of a mask.
    pub fn bits(&mut self, key: impl Into<Key>, bits: i64, on: bool) {
        let key = key.into();
        let mask = self.long(key).unwrap_or(0);
        self.set_long(key, if on { mask | bits } else { mask & !bits });
    }

    pub fn iter(&self) -> impl Iterator<Item = &(Key, Value)> {
        self.0.iter()
    }

    pub fn clear(&mut self, key: impl Into<Key>) {
        let key = key.into();
        self.0.retain(|(known, _)| *known != key);
    }

    pub fn get(&self, key: impl Into<Key>) -> Option<&Value> {
        let key = key.into();
        self.0.iter().find(|(known, _)| *known == key).map(|(_, value)| value)
    }

    pub fn text(&self, key: impl Into<Key>) -> Option<&[u8]> {
        match self.get(key) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    pub fn long(&self, key: impl Into<Key>) -> Option<i64> {
        match self.get(key) {
            Some(Value::Long(number)) => Some(*number),
            _ => None,
        }
    }

    /// Returns whether a switch was given and is on.
    pub fn is_on(&self, key: impl Into<Key>) -> bool {
        self.long(key).unwrap_or(0) != 0
    }

    pub fn list(&self, key: impl Into<Key>) -> &[Bytes] {
        match self.get(key) {
            Some(Value::List(list)) => list,
            _ => &[],
        }
    }

    fn slot(&mut self, key: Key) -> Option<&mut Value> {
        self.0.iter_mut().find(|(known, _)| *known == key).map(|(_, value)| value)
    }
}
