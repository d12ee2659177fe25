//! Results that end parsing: errors, and flags that request something other than a transfer.

use crate::bytes::Bytes;

/// Why reading the command line ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    Wrong(Wrong),
    Next,
    Help(Option<Bytes>),
    Generate(Bytes),
    Manual,
    Version,
    Engines,
    CaBundle,
    ShowPool,
    EndPool,
}

/// The ways to use an option wrongly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    Unknown,
    /// An unknown option in a config file, reported for the flag that named the file.
    UnknownInConfig,
    NeedsArgument,
    BadUse,
    NotNumeric,
    Negative,
    NotSupported,
    SchemeNotSupported,
    NoPrefix,
    TooLarge,
    NameAndResume,
    Unreadable,
    Expansion,
    Blank,
    VariableSyntax,
    Garbage,
    /// An argument of a flag that curl does not have; the text lists what is allowed.
    Allowed(&'static str),
}

impl Wrong {
    /// Returns curl's text, which scripts match.
    pub fn text(self) -> &'static str {
        match self {
            Wrong::Unknown => "is unknown",
            Wrong::UnknownInConfig => "found an unknown config option",
            Wrong::NeedsArgument => "requires parameter",
            Wrong::BadUse => "is badly used here",
            Wrong::NotNumeric => "expected a proper numerical parameter",
            Wrong::Negative => "expected a positive numerical parameter",
            Wrong::NotSupported => "the installed libcurl version does not support this",
            Wrong::SchemeNotSupported => "a specified protocol is unsupported by libcurl",
            Wrong::NoPrefix => "the given option cannot be reversed with a --no- prefix",
            Wrong::TooLarge => "too large number",
            Wrong::NameAndResume => "--continue-at and --remote-header-name cannot be combined",
            Wrong::Unreadable => "error encountered when reading a file",
            Wrong::Expansion => "variable expansion failure",
            Wrong::Blank => "blank argument where content is expected",
            Wrong::VariableSyntax => "syntax error in --variable argument",
            Wrong::Garbage => "had unsupported trailing garbage",
            Wrong::Allowed(text) => text,
        }
    }

    /// The exit code: an unsupported scheme, an unreadable file, or a failed start.
    pub fn exit_code(self) -> i32 {
        match self {
            Wrong::SchemeNotSupported => 1,
            Wrong::Unreadable => 26,
            _ => 2,
        }
    }
}

impl From<Wrong> for Stop {
    fn from(wrong: Wrong) -> Stop {
        Stop::Wrong(wrong)
    }
}

pub type Done = Result<(), Stop>;
