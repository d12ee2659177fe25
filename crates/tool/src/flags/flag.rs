//! One flag of the command line, as it is declared.

use crate::options::Key;
use crate::parse::{Done, Parser};
use crate::request::{Globals, Request};

/// A flag as the file of its category declares it.
#[derive(Clone, Copy)]
pub struct Declaration {
    /// The documented long name; one that starts with `no-` is found without that prefix.
    pub name: &'static str,
    /// The single letter, or a null character.
    pub short: char,
    pub arg: Arg<&'static str>,
    pub multi: Multi,
    pub categories: &'static [&'static str],
    /// Schemes it is about, as shown in the manual.
    pub protocols: &'static str,
    /// The curl version that brought it.
    pub since: &'static str,
    /// One line for `--help`.
    pub help: &'static str,
    /// A paragraph for the manual page.
    pub about: &'static str,
    /// A feature of the library that may be missing, named as in `curl -V`.
    pub needs: &'static str,
    /// Whether the argument contains a secret, which must not be visible in listings of processes.
    pub secret: bool,
    pub set: Set,
}

/// Whether a flag takes an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arg<T> {
    /// No argument and no `--no-` form.
    None,
    /// On, or off with `--no-`.
    Bool,
    /// A text, shown with this placeholder.
    Text(T),
    /// The name of a file, shown with this placeholder.
    File(T),
    /// An optional text: on a command line it follows an equals sign, or is missing.
    Optional(T),
}

/// The effect of repeating a flag.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Multi {
    Single,
    Append,
    Boolean,
    Mutex,
    Custom,
    PerUrl,
}

/// The effect of a flag on the request being described.
#[derive(Clone, Copy)]
pub enum Set {
    /// A text that must not be empty.
    Text(Key),
    /// The name of a file that must be there when the flag is read.
    ExistingFile(Key),
    /// A text that may be empty.
    AnyText(Key),
    /// One more entry of a list.
    List(Key),
    /// 1 or 0.
    On(Key),
    /// 0 or 1.
    Off(Key),
    /// Bits of a mask, set or cleared.
    Bits(Key, i64),
    /// A constant.
    Fixed(Key, i64),
    /// Seconds with a fraction, stored as milliseconds.
    Millis(Key),
    /// A number that is not negative.
    Number(Key),
    Field(fn(&mut Request) -> &mut bool),
    NotField(fn(&mut Request) -> &mut bool),
    Global(fn(&mut Globals) -> &mut bool),
    NotGlobal(fn(&mut Globals) -> &mut bool),
    /// Reads a config file.
    Config,
    /// A function of the flag's name and of the argument, which is empty if it is optional and missing.
    Act(fn(&mut Parser, &str, &[u8]) -> Done),
    /// A function of the flag's name and of a switch.
    Toggle(fn(&mut Parser, &str, bool) -> Done),
    /// A function without an argument.
    Mark(fn(&mut Parser) -> Done),
    /// Accepted with a warning.
    Gone,
}

/// The base of every declaration, with the defaults.
pub const FLAG: Declaration = Declaration {
    name: "",
    short: '\0',
    arg: Arg::Bool,
    multi: Multi::Boolean,
    categories: &[],
    protocols: "",
    since: "",
    help: "",
    about: "",
    needs: "",
    secret: false,
    set: Set::Gone,
};
