//! From the words of a command line to [`Request`]s, as curl 8.22 reads them.
//!
//! Long options are matched by their exact name (curl took abbreviations until 8.9), may carry their argument after
//! an equals sign (8.16), and exist as `--no-NAME` and `--expand-NAME` where that makes sense. Single letters can be
//! bundled; the first that takes an argument ends the bundle. What a flag does stands in its declaration.

use crate::bytes::Bytes;
use crate::config_file;
use crate::flags::{self, Arg, Flag, Set};
use crate::message::{Messages, shown};
use crate::numbers;
use crate::options::Value;
use crate::request::{Globals, Request};
use crate::variables::{self, Variables};
use crate::world::World;

/// How deep config files may name others.
pub const CONFIG_DEPTH: usize = 5;

/// The longest option name looked at before an equals sign.
const LONGEST_NAME: usize = 26;

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
    TellAgents,
    EndAgents,
}

/// The ways to use an option wrongly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    Unknown,
    /// The same, said of the flag that named the file.
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
}

impl Wrong {
    /// As curl words it; scripts match on these.
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

/// So many flags are found again without a search.
const MOST_RECENT: usize = 8;

/// The state of reading one command line.
pub struct Parser<'w> {
    pub world: &'w mut dyn World,
    pub messages: Messages,
    pub globals: Globals,
    pub requests: Vec<Request>,
    pub variables: Variables,
    /// Targets made so far, over all groups.
    pub target_count: usize,
    /// How deep config files are nested now.
    pub depth: usize,
    /// `-v` given in the bundle being read.
    pub verbose_in_bundle: u8,
    /// How many bytes at the end of the word just read hold a secret.
    secret: usize,
    /// The first flags that config files have named.
    recent: Vec<&'static Flag>,
    pub default_config: Option<Bytes>,
}

impl<'w> Parser<'w> {
    pub fn new(world: &'w mut dyn World, messages: Messages) -> Parser<'w> {
        Parser {
            world,
            messages,
            globals: Globals::default(),
            requests: vec![Request::new()],
            variables: Variables::default(),
            target_count: 0,
            depth: 0,
            verbose_in_bundle: 0,
            secret: 0,
            recent: Vec::new(),
            default_config: None,
        }
    }

    /// The group being described.
    pub fn request(&mut self) -> &mut Request {
        self.requests.last_mut().expect("there is always one group")
    }

    /// Reads the default config file, unless the first word forbids it.
    pub fn read_default_config(&mut self, words: &[Bytes]) {
        let forbidden = words.first().is_some_and(|word| word.starts_with(b"-q") || word == b"--disable");
        if !forbidden {
            config_file::read_default(self);
        }
    }

    /// Reads all words after the program's name. Wrong uses are reported here.
    pub fn words(&mut self, words: &[Bytes]) -> Done {
        let mut flags_end = false;
        let mut at = 0;
        while at < words.len() {
            let word = &words[at];
            at += 1;
            if !flags_end && word == b"--" {
                flags_end = true;
                continue;
            }
            let is_flag = !flags_end && word.first() == Some(&b'-');
            let next = words.get(at).map(Vec::as_slice);
            self.secret = 0;
            let used = if is_flag { self.option(word, next) } else { self.option(b"--url", Some(word)) };
            match used.or_else(|stop| self.begin_next(stop)) {
                Ok(used) => {
                    at += usize::from(used && is_flag);
                    if self.secret > 0 {
                        self.world.hide(at - 1, self.secret);
                    }
                }
                Err(stop) => return Err(self.report(stop, word)),
            }
        }
        let request = self.request();
        if request.remote_header_name && request.resume == Some(crate::request::Resume::Current) {
            return Err(self.report(Wrong::NameAndResume.into(), b":"));
        }
        Ok(())
    }

    /// Starts a new group if that is what the stop is about.
    pub fn begin_next(&mut self, stop: Stop) -> Result<bool, Stop> {
        if stop != Stop::Next {
            return Err(stop);
        }
        if self.request().targets.first().is_some_and(|target| target.url.is_some()) {
            self.requests.push(Request::new());
            return Ok(false);
        }
        if self.depth == 0 {
            self.messages.error("missing URL before --next");
            return Err(Wrong::BadUse.into());
        }
        Ok(false)
    }

    fn report(&mut self, stop: Stop, word: &[u8]) -> Stop {
        if let Stop::Wrong(wrong) = stop {
            let text = if word == b":" {
                wrong.text().to_string()
            } else {
                format!("option {}: {}", shown(word), wrong.text())
            };
            self.messages.usage(&text);
        }
        stop
    }

    /// Reads one option word; true when it has used up the next word.
    pub fn option(&mut self, word: &[u8], next: Option<&[u8]>) -> Result<bool, Stop> {
        self.verbose_in_bundle = 0;
        if word.first() != Some(&b'-') {
            return self.long(word, next);
        }
        match word.strip_prefix(b"--") {
            Some(name) => self.long(name, next),
            None => self.bundle(&word[1..], next),
        }
    }

    fn long(&mut self, name: &[u8], next: Option<&[u8]>) -> Result<bool, Stop> {
        let (name, negated, expand) = match (name.strip_prefix(b"no-"), name.strip_prefix(b"expand-")) {
            (Some(rest), _) => (rest, true, false),
            (None, Some(rest)) => (rest, false, true),
            (None, None) => (name, false, false),
        };
        let equals = name.iter().take(LONGEST_NAME + 1).position(|byte| *byte == b'=');
        let (name, inline) = match equals {
            Some(at) => (&name[..at], Some(&name[at + 1..])),
            None => (name, None),
        };
        let (flag, opposite) = self.flag(name).ok_or(Wrong::Unknown)?;
        if negated && flag.arg != Arg::Bool {
            return Err(Wrong::NoPrefix.into());
        }
        if flag.may_take_argument() {
            // In a config file it has a place of its own, and cannot be taken for a URL.
            let apart = next.filter(|_| inline.is_none() && self.depth > 0);
            self.argument(flag, inline.or(apart).or(Some(b"")))?;
            return Ok(apart.is_some());
        }
        let argument = inline.or(next);
        self.note_secret(flag, argument);
        if expand && argument.is_some() && !flag.takes_argument() {
            return Err(Wrong::Expansion.into());
        }
        let expanded = match (expand, argument) {
            (true, Some(text)) => variables::expand(self, text)?,
            _ => None,
        };
        let argument = expanded.as_deref().or(argument);
        if !flag.takes_argument() {
            self.switch(flag, negated == opposite)?;
            return Ok(false);
        }
        let given = argument.is_some();
        self.argument(flag, argument)?;
        Ok(given && inline.is_none())
    }

    /// Finds a flag by its long name. A config file has the same few again and again.
    fn flag(&mut self, name: &[u8]) -> Option<(&'static Flag, bool)> {
        if let Some(flag) = self.recent.iter().find(|flag| flag.name.as_bytes() == name) {
            return Some((flag, false));
        }
        let (flag, opposite) = flags::long(name)?;
        let is_usual = !flag.is_negated() && flag.name.as_bytes() == name;
        if is_usual && self.depth > 0 && self.recent.len() < MOST_RECENT {
            self.recent.push(flag);
        }
        Some((flag, opposite))
    }

    fn bundle(&mut self, letters: &[u8], next: Option<&[u8]>) -> Result<bool, Stop> {
        if letters.is_empty() {
            return Err(Wrong::Unknown.into());
        }
        for (at, letter) in letters.iter().enumerate() {
            let flag = flags::short(*letter).ok_or(Wrong::Unknown)?;
            let rest = &letters[at + 1..];
            if flag.takes_argument() {
                let argument = if rest.is_empty() { next } else { Some(rest) };
                self.note_secret(flag, argument);
                self.argument(flag, argument)?;
                return Ok(rest.is_empty() && argument.is_some());
            }
            self.switch(flag, !flag.is_negated())?;
            self.verbose_in_bundle = self.verbose_in_bundle.saturating_add(1);
        }
        Ok(false)
    }

    /// What stands in a config file is not seen by others.
    fn note_secret(&mut self, flag: &Flag, argument: Option<&[u8]>) {
        if flag.secret && self.depth == 0 {
            self.secret = argument.map_or(0, <[u8]>::len);
        }
    }

    fn argument(&mut self, flag: &'static Flag, argument: Option<&[u8]>) -> Done {
        if flag.name == "help" {
            return Err(Stop::Help(argument.filter(|text| !text.is_empty()).map(<[u8]>::to_vec)));
        }
        let text = argument.ok_or(Wrong::NeedsArgument)?;
        if matches!(flag.set, Set::Gone) {
            return self.gone(flag);
        }
        if text.len() > 2 && text.starts_with(&[0xe2, 0x80]) && text[2] & 0x80 != 0 {
            let text = shown(text);
            self.messages.warn(&format!(
                "The argument '{text}' starts with a Unicode character. Maybe ASCII was intended?"
            ));
        }
        if matches!(flag.arg, Arg::File(_)) && text.len() > 1 && text[0] == b'-' {
            let text = shown(text);
            self.messages.warn(&format!("The filename argument '{text}' looks like a flag."));
        }
        self.record(flag, text)
    }

    fn record(&mut self, flag: &'static Flag, text: &[u8]) -> Done {
        if !flag.needs.is_empty() && !self.world.has(flag.needs) {
            return Err(Wrong::NotSupported.into());
        }
        let value = match flag.set {
            Set::Act(act) => return act(self, flag, text),
            Set::Absent => return Err(Wrong::NotSupported.into()),
            Set::ExistingFile(_) if self.world.modified(text).is_err() => {
                return Err(self.absent_file(flag, text));
            }
            Set::Text(_) if text.is_empty() => return Err(Wrong::Blank.into()),
            Set::List(name) => {
                self.request().options.push(name, text);
                return Ok(());
            }
            Set::Text(name) | Set::AnyText(name) | Set::ExistingFile(name) => {
                (name, Value::Text(text.to_vec()))
            }
            Set::Millis(name) => (name, Value::Long(numbers::millis(text)?)),
            Set::Number(name) => (name, Value::Long(numbers::unsigned(text)?)),
            _ => return Err(Wrong::Unknown.into()),
        };
        self.request().options.set(value.0, value.1);
        Ok(())
    }

    /// A file that a flag names and nobody finds is told at once, not when a transfer would read it.
    fn absent_file(&mut self, flag: &Flag, name: &[u8]) -> Stop {
        let text = format!("The file '{}' provided to --{} does not exist", shown(name), flag.name);
        self.messages.error(&text);
        Wrong::BadUse.into()
    }

    fn switch(&mut self, flag: &'static Flag, on: bool) -> Done {
        if on && !flag.needs.is_empty() && !self.world.has(flag.needs) {
            return Err(Wrong::NotSupported.into());
        }
        match flag.set {
            Set::On(name) => self.request().options.set_long(name, on.into()),
            Set::Off(name) => self.request().options.set_long(name, (!on).into()),
            Set::Bits(name, bits) => self.request().options.bits(name, bits, on),
            Set::Fixed(name, value) => self.request().options.set_long(name, value),
            Set::Field(field) => *field(self.request()) = on,
            Set::NotField(field) => *field(self.request()) = !on,
            Set::Global(field) => *field(&mut self.globals) = on,
            Set::NotGlobal(field) => *field(&mut self.globals) = !on,
            Set::Toggle(toggle) => toggle(self, flag, on)?,
            Set::Mark(mark) => mark(self)?,
            Set::Gone => self.gone(flag)?,
            _ => return Err(Wrong::NotSupported.into()),
        }
        self.messages.silent = self.globals.silent;
        self.messages.show_error = self.globals.show_error;
        Ok(())
    }

    fn gone(&mut self, flag: &Flag) -> Done {
        let name = flag.key();
        self.messages.warn(&format!("--{name} is deprecated and has no function anymore"));
        Ok(())
    }
}

#[cfg(test)]
mod tests;
