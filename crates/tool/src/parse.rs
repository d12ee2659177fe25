//! Parses the words of a command line to [`Request`]s, like curl 8.22.
//!
//! Long options are matched by their exact name (curl accepted abbreviations until 8.9), may have their
//! argument after an equals sign (8.16), and exist as `--no-NAME` and `--expand-NAME` where that makes sense.
//! Single letters can be bundled; the first that takes an argument ends the bundle. The effect of a flag is
//! in its declaration.

mod entry_option;
mod own_option;
mod parser;
pub mod sections;
mod stop;

pub use parser::Parser;
pub use stop::{Done, Stop, Wrong};

use crate::bytes::Bytes;
use crate::config_file::{self, Entry};
use crate::doc::help;
use crate::flags::{self, Arg, Flag, Set};
use crate::message::{Messages, shown};
use crate::numbers;
use crate::options::Value;
use crate::request::Request;
use crate::world::World;
use std::io::ErrorKind;

/// How deep config files may name others.
const CONFIG_DEPTH: usize = 5;

/// The longest option name looked at before an equals sign.
const LONGEST_NAME: usize = 26;

/// So many flags are found again without a search.
const MOST_RECENT: usize = 8;

/// Reads the words of a command line, and the lines of config files that they name.
pub struct Reader<'w> {
    pub parser: Parser<'w>,
    /// Number of bytes at the end of the last word that are a secret.
    secret: usize,
    /// The first flags that config files have named.
    recent: Vec<&'static Flag>,
    /// The number of the section of a config file that is read.
    section: Option<usize>,
    /// Whether options are those of the default config file, which the next command reads again.
    reads_default: bool,
}

impl<'w> Reader<'w> {
    pub fn new(world: &'w mut dyn World, messages: Messages) -> Reader<'w> {
        Reader {
            parser: Parser::new(world, messages),
            secret: 0,
            recent: Vec::new(),
            section: None,
            reads_default: false,
        }
    }

    /// Reads the default config file, unless the first word forbids it.
    pub fn read_default_config(&mut self, words: &[Bytes]) {
        let forbidden = words.first().is_some_and(|word| word.starts_with(b"-q") || word == b"--disable");
        if !forbidden {
            self.reads_default = true;
            self.read_default_file();
            self.reads_default = false;
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
                        self.parser.world.hide(at - 1, self.secret);
                    }
                }
                Err(stop) => return Err(self.report(stop, word)),
            }
        }
        if self.parser.request().resumes_unnamed() {
            return Err(self.report(Wrong::NameAndResume.into(), b":"));
        }
        Ok(())
    }

    /// Starts a new group if the stop requests that.
    fn begin_next(&mut self, stop: Stop) -> Result<bool, Stop> {
        if stop != Stop::Next {
            return Err(stop);
        }
        if self.parser.request().names_urls() {
            self.parser.requests.push(Request::new());
            return Ok(false);
        }
        if self.parser.depth == 0 {
            self.parser.messages.error("missing URL before --next");
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
            self.parser.messages.usage(&text);
        }
        stop
    }

    /// Reads one option word; true when it has used up the next word.
    fn option(&mut self, word: &[u8], next: Option<&[u8]>) -> Result<bool, Stop> {
        self.parser.verbose_in_bundle = 0;
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
            // In a config file the argument has its own field, and cannot be taken for a URL.
            let apart = next.filter(|_| inline.is_none() && self.parser.depth > 0);
            self.argument(flag, inline.or(apart).or(Some(b"")))?;
            return Ok(apart.is_some());
        }
        let argument = inline.or(next);
        self.note_secret(flag, argument);
        if expand && argument.is_some() && !flag.takes_argument() {
            return Err(Wrong::Expansion.into());
        }
        let expanded = match (expand, argument) {
            (true, Some(text)) => self.parser.variables.expand(text, &mut self.parser.messages)?,
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
        if is_usual && self.parser.depth > 0 && self.recent.len() < MOST_RECENT {
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
            self.parser.verbose_in_bundle = self.parser.verbose_in_bundle.saturating_add(1);
        }
        Ok(false)
    }

    /// Records a secret on the command line. Config files are not visible to other processes.
    fn note_secret(&mut self, flag: &Flag, argument: Option<&[u8]>) {
        if flag.secret && self.parser.depth == 0 {
            self.secret = argument.map_or(0, <[u8]>::len);
        }
    }

    fn argument(&mut self, flag: &'static Flag, argument: Option<&[u8]>) -> Done {
        if flag.name == "help" {
            return Err(Stop::Help(argument.filter(|text| !text.is_empty()).map(<[u8]>::to_vec)));
        }
        let text = argument.ok_or(Wrong::NeedsArgument)?;
        if matches!(flag.set(), Set::Gone) {
            return self.warn_deprecated(flag);
        }
        if text.len() > 2 && text.starts_with(&[0xe2, 0x80]) && text[2] & 0x80 != 0 {
            let text = shown(text);
            self.parser.messages.warn(&format!(
                "The argument '{text}' starts with a Unicode character. Maybe ASCII was intended?"
            ));
        }
        if matches!(flag.arg, Arg::File(_)) && text.len() > 1 && text[0] == b'-' {
            let text = shown(text);
            self.parser.messages.warn(&format!("The filename argument '{text}' looks like a flag."));
        }
        self.record(flag, text)?;
        self.keep_argument(flag, text);
        Ok(())
    }

    fn record(&mut self, flag: &'static Flag, text: &[u8]) -> Done {
        if !flag.needs.is_empty() && !self.parser.world.has(&flag.needs) {
            return Err(Wrong::NotSupported.into());
        }
        let value = match flag.set() {
            Set::Config => return self.read_config(text),
            Set::Act(act) => return act(&mut self.parser, &flag.name, text),
            Set::ExistingFile(_) if self.parser.world.modified(text).is_err() => {
                return Err(self.absent_file(flag, text));
            }
            Set::Text(_) if text.is_empty() => return Err(Wrong::Blank.into()),
            Set::List(name) => {
                self.parser.request().options.push(name, text);
                return Ok(());
            }
            Set::Text(name) | Set::AnyText(name) | Set::ExistingFile(name) => {
                (name, Value::Text(text.to_vec()))
            }
            Set::Millis(name) => (name, Value::Long(numbers::millis(text)?)),
            Set::Number(name) => (name, Value::Long(numbers::unsigned(text)?)),
            _ => return Err(Wrong::Unknown.into()),
        };
        self.parser.request().options.set(value.0, value.1);
        Ok(())
    }

    /// Reports a missing file of a flag at once, not when a transfer would read it.
    fn absent_file(&mut self, flag: &Flag, name: &[u8]) -> Stop {
        let text = format!("The file '{}' provided to --{} does not exist", shown(name), flag.name);
        self.parser.messages.error(&text);
        Wrong::BadUse.into()
    }

    fn switch(&mut self, flag: &'static Flag, on: bool) -> Done {
        if on && !flag.needs.is_empty() && !self.parser.world.has(&flag.needs) {
            return Err(Wrong::NotSupported.into());
        }
        match flag.set() {
            Set::On(name) => self.parser.request().options.set_long(name, on.into()),
            Set::Off(name) => self.parser.request().options.set_long(name, (!on).into()),
            Set::Bits(name, bits) => self.parser.request().options.bits(name, bits, on),
            Set::Fixed(name, value) => self.parser.request().options.set_long(name, value),
            Set::Field(field) => *field(self.parser.request()) = on,
            Set::NotField(field) => *field(self.parser.request()) = !on,
            Set::Global(field) => *field(&mut self.parser.globals) = on,
            Set::NotGlobal(field) => *field(&mut self.parser.globals) = !on,
            Set::Toggle(toggle) => toggle(&mut self.parser, &flag.name, on)?,
            Set::Mark(mark) => mark(&mut self.parser)?,
            Set::Gone => self.warn_deprecated(flag)?,
            _ => return Err(Wrong::NotSupported.into()),
        }
        self.parser.messages.silent = self.parser.globals.silent;
        self.parser.messages.show_error = self.parser.globals.show_error;
        self.keep_switch(flag, on);
        Ok(())
    }

    fn warn_deprecated(&mut self, flag: &Flag) -> Done {
        let name = flag.key();
        self.parser.messages.warn(&format!("--{name} is deprecated and has no function anymore"));
        Ok(())
    }

    /// Reads the file that `-K` names.
    fn read_config(&mut self, name: &[u8]) -> Done {
        if self.parser.depth >= CONFIG_DEPTH {
            let text = format!("Max config file recursion level reached ({CONFIG_DEPTH})");
            self.parser.messages.error(&text);
            return Err(Wrong::BadUse.into());
        }
        let done = match self.parser.world.read(name, config_file::LARGEST_FILE) {
            Ok(content) => self.lines(name, &content),
            // A directory counts as empty, as in curl.
            Err(error) if error.kind() == ErrorKind::IsADirectory => Ok(()),
            Err(_) => Err(Wrong::Unreadable.into()),
        };
        // For an unreadable file named in a config file, that file is reported, too.
        if done == Err(Wrong::Unreadable.into()) {
            self.parser.messages.error(&format!("cannot read config from '{}'", shown(name)));
        }
        done
    }

    /// Reads the first default file that can be opened. Only an invalid option in it is fatal.
    fn read_default_file(&mut self) {
        for path in config_file::places(self.parser.world) {
            if let Ok(content) = self.parser.world.read(&path, config_file::LARGEST_FILE) {
                let _ = self.lines(&path, &content);
                self.parser.default_config = Some(path);
                return;
            }
        }
    }

    /// Reads the lines of a config file.
    fn lines(&mut self, name: &[u8], content: &[u8]) -> Done {
        self.parser.depth += 1;
        let outer_section = self.section.take();
        let mut done = Ok(());
        for (number, entry) in config_file::entries(content) {
            if let Err(stop) = entry.map_err(Stop::from).and_then(|entry| self.line(name, number, &entry)) {
                // A file may ask for help, but that does not end the run.
                let harmless = matches!(stop, Stop::Help(_) | Stop::Manual | Stop::Version);
                done = if harmless { Ok(()) } else { Err(stop) };
                break;
            }
        }
        self.parser.depth -= 1;
        self.section = outer_section;
        done
    }

    /// Reads an option, or the start of a section; true when the argument has been used.
    fn entry(&mut self, entry: &Entry) -> Result<bool, Stop> {
        if entry.option.starts_with(b"[") {
            self.section = Some(self.parser.globals.sections.len());
            self.parser.globals.sections.push(sections::parse(entry.option)?);
            return Ok(false);
        }
        let Some(section) = self.section else {
            return self.option(entry.option, entry.argument.as_deref());
        };
        sections::check_flag(entry.option)?;
        let request = std::mem::take(&mut self.parser.globals.sections[section].request);
        self.parser.requests.push(request);
        let used = self.option(entry.option, entry.argument.as_deref());
        let request = self.parser.requests.pop().expect("it was pushed");
        sections::check_request(&request)?;
        self.parser.globals.sections[section].request = request;
        used
    }

    fn line(&mut self, name: &[u8], number: usize, entry: &Entry) -> Done {
        let place = || {
            let file = if name == b"-" { "<stdin>".to_string() } else { shown(name) };
            (file, shown(entry.option))
        };
        let doubts = [
            (entry.single_quote, "leading single quote. It is probably a mistake."),
            (entry.loose_blank, "unquoted whitespace. This may cause side-effects."),
        ];
        for (_, doubt) in doubts.iter().filter(|(found, _)| *found) {
            let (file, option) = place();
            let text = format!(
                "{file}:{number} Option '{option}' uses argument with {doubt} Consider double quotes."
            );
            self.parser.messages.warn(&text);
        }
        let used = self.entry(entry);
        let used = match used.or_else(|stop| self.begin_next(stop)) {
            Ok(false) if entry.argument.as_ref().is_some_and(|text| !text.is_empty()) => {
                if entry.option.contains(&b'=') { Ok(true) } else { Err(Wrong::Garbage.into()) }
            }
            other => other,
        };
        match used {
            Ok(_) => Ok(()),
            Err(Stop::Help(about)) => {
                help::print(about.as_deref());
                Err(Stop::Help(None))
            }
            Err(Stop::Wrong(wrong)) => {
                let (why, (file, option)) = (wrong.text(), place());
                self.parser.messages.error(&format!("{file}:{number} config file option '{option}' {why}"));
                Err(if wrong == Wrong::Unknown { Wrong::UnknownInConfig } else { wrong }.into())
            }
            Err(stop) => Err(stop),
        }
    }
}

#[cfg(test)]
mod tests;
