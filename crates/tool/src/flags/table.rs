//! The table of all flags, made from their declarations by the compiler.
//!
//! A declaration has eight texts, each behind a pointer. The loader would relocate all of them at each start:
//! that copies 14 pages, 2 µs each. So the table has the places of its texts in one long text instead. Names
//! come first in it, because each flag of a command line is searched by its name.

use super::categories::CATEGORIES;
use super::flag::{Arg, Declaration, FLAG, Multi, Set};
use super::{
    auth, connection, curl, deprecated, dns, extra, ftp, http, mail, mirror, output, proxy, ssh, tls,
    transfer, upload, verbose,
};
use std::fmt;
use std::ops::Deref;

/// The declarations, file by file. They exist in the compiler alone.
pub(super) const FILES: &[&[Declaration]] = &[
    auth::FLAGS,
    connection::FLAGS,
    curl::FLAGS,
    deprecated::FLAGS,
    dns::FLAGS,
    extra::FLAGS,
    ftp::FLAGS,
    http::FLAGS,
    mail::FLAGS,
    mirror::FLAGS,
    output::FLAGS,
    proxy::FLAGS,
    ssh::FLAGS,
    tls::FLAGS,
    transfer::FLAGS,
    upload::FLAGS,
    verbose::FLAGS,
];

/// The row of a flag. Its fields are those of the declaration.
#[derive(Clone, Copy)]
pub struct Flag {
    pub name: Text,
    pub short: char,
    pub arg: Arg<Text>,
    pub multi: Multi,
    categories: u32,
    pub protocols: Text,
    pub since: Text,
    pub help: Text,
    pub about: Text,
    pub needs: Text,
    pub secret: bool,
    number: u16,
}

impl Flag {
    /// The name the parser looks for.
    pub fn key(&self) -> &'static str {
        if self.is_negated() { &self.name.as_str()[3..] } else { self.name.as_str() }
    }

    /// Documented in its `--no-` form, as `--no-buffer`.
    pub fn is_negated(&self) -> bool {
        self.name.starts_with("no-")
    }

    /// Returns whether it takes the next word as its argument if none is attached.
    pub fn takes_argument(&self) -> bool {
        matches!(self.arg, Arg::Text(_) | Arg::File(_))
    }

    pub fn may_take_argument(&self) -> bool {
        matches!(self.arg, Arg::Optional(_))
    }

    pub fn placeholder(&self) -> &'static str {
        match self.arg {
            Arg::Text(text) | Arg::File(text) | Arg::Optional(text) => text.as_str(),
            Arg::None | Arg::Bool => "",
        }
    }

    pub fn in_category(&self, category: &str) -> bool {
        let place = CATEGORIES.iter().position(|(name, _)| *name == category);
        place.is_some_and(|place| self.categories & 1 << place != 0)
    }

    /// The effect on the request.
    pub fn set(&self) -> Set {
        EFFECTS[usize::from(self.number)]
    }

    /// `-o, --output <file>`, with the long names under each other.
    pub fn usage(&self) -> String {
        let short = if self.short == '\0' { "    ".to_string() } else { format!("-{}, ", self.short) };
        let (before, behind) = match self.arg {
            Arg::None | Arg::Bool => ("", ""),
            Arg::Text(_) | Arg::File(_) => (" ", ""),
            Arg::Optional(_) => ("[=", "]"),
        };
        format!("{short}--{}{before}{}{behind}", self.name, self.placeholder())
    }
}

/// A text of the table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Text {
    start: u32,
    length: u32,
}

impl Text {
    const EMPTY: Text = Text { start: 0, length: 0 };

    pub fn as_str(self) -> &'static str {
        let start = self.start as usize;
        &TEXTS[start..start + self.length as usize]
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

/// Number of flags, and number of bytes in all texts.
const COUNT: usize = sizes().0;
const SIZE: usize = sizes().1;

/// The rows of the table.
pub(super) static FLAGS: [Flag; COUNT] = packed().0;
static BYTES: [u8; SIZE] = packed().1;
static TEXTS: &str = match std::str::from_utf8(&BYTES) {
    Ok(texts) => texts,
    Err(_) => panic!("whole texts are UTF-8 in a row, too"),
};
/// The effects, in the order of the rows: pointers to functions, which the loader does relocate.
static EFFECTS: [Set; COUNT] = effects();

/// Returns the declaration with that number.
const fn declaration(number: usize) -> &'static Declaration {
    let (mut file, mut before) = (0, 0);
    while number - before >= FILES[file].len() {
        before += FILES[file].len();
        file += 1;
    }
    &FILES[file][number - before]
}

const fn sizes() -> (usize, usize) {
    let (mut count, mut size, mut file) = (0, 0, 0);
    while file < FILES.len() {
        let mut at = 0;
        while at < FILES[file].len() {
            let Declaration { name, arg, protocols, since, help, about, needs, .. } = &FILES[file][at];
            let placeholder = match arg {
                Arg::Text(text) | Arg::File(text) | Arg::Optional(text) => text.len(),
                Arg::None | Arg::Bool => 0,
            };
            size += name.len() + protocols.len() + since.len() + help.len() + about.len() + needs.len();
            size += placeholder;
            at += 1;
        }
        count += at;
        file += 1;
    }
    (count, size)
}

/// The bytes of all texts, of which so many are used.
struct Packer {
    bytes: [u8; SIZE],
    used: usize,
}

impl Packer {
    const fn add(&mut self, text: &str) -> Text {
        let (start, length) = (self.used, text.len());
        let (_, free) = self.bytes.split_at_mut(start);
        free.split_at_mut(length).0.copy_from_slice(text.as_bytes());
        self.used += length;
        Text { start: start as u32, length: length as u32 }
    }

    const fn add_arg(&mut self, arg: Arg<&str>) -> Arg<Text> {
        match arg {
            Arg::None => Arg::None,
            Arg::Bool => Arg::Bool,
            Arg::Text(text) => Arg::Text(self.add(text)),
            Arg::File(text) => Arg::File(self.add(text)),
            Arg::Optional(text) => Arg::Optional(self.add(text)),
        }
    }

    /// Returns the row of a flag, without its name.
    const fn row(&mut self, flag: &Declaration, number: usize) -> Flag {
        Flag {
            name: Text::EMPTY,
            short: flag.short,
            arg: self.add_arg(flag.arg),
            multi: flag.multi,
            categories: mask(flag.categories),
            protocols: self.add(flag.protocols),
            since: self.add(flag.since),
            help: self.add(flag.help),
            about: self.add(flag.about),
            needs: self.add(flag.needs),
            secret: flag.secret,
            number: number as u16,
        }
    }
}

const fn packed() -> ([Flag; COUNT], [u8; SIZE]) {
    let mut packer = Packer { bytes: [0; SIZE], used: 0 };
    let mut names = [Text::EMPTY; COUNT];
    let mut at = 0;
    while at < COUNT {
        names[at] = packer.add(declaration(at).name);
        at += 1;
    }
    let mut flags = [packer.row(&FLAG, 0); COUNT];
    at = 0;
    while at < COUNT {
        flags[at] = Flag { name: names[at], ..packer.row(declaration(at), at) };
        at += 1;
    }
    (flags, packer.bytes)
}

const fn effects() -> [Set; COUNT] {
    let mut effects = [Set::Gone; COUNT];
    let mut at = 0;
    while at < COUNT {
        effects[at] = declaration(at).set;
        at += 1;
    }
    effects
}

/// Returns a bit for each category, by its place among [`CATEGORIES`].
const fn mask(categories: &[&str]) -> u32 {
    let (mut bits, mut at) = (0, 0);
    while at < categories.len() {
        let mut place = 0;
        while !equal(CATEGORIES[place].0, categories[at]) {
            place += 1;
        }
        bits |= 1 << place;
        at += 1;
    }
    bits
}

const fn equal(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}
