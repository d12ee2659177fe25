//! Sections of config files whose options apply only to transfers to certain hosts: `[host NAME...]`.
//!
//! An option that is set outside of sections wins, and of two sections the first, as in ssh_config(5). A
//! redirect to a host that a section does not name takes all options of sections back ([`AppliedSections`]):
//! they are often credentials, or a weaker check of one server.

use crate::bytes::Bytes;
use crate::host_pattern::Place;
use crate::options::{Key, Options, ToolOption, Value};
use crate::raw::{self, Callbacks, Easy, EasyOption as O};
use crate::request::{HostSection, Request};
use crate::settings::Setting;
use std::cell::Cell;
use std::rc::Rc;

/// Options that name the proxy together.
const PROXY: [Key; 3] = [Key::Lib(O::Proxy), Key::Lib(O::ProxyType), Key::Tool(ToolOption::ProxyCommand)];

/// The sections for a URL.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Matching {
    /// Their numbers.
    pub numbers: Vec<usize>,
    /// Whether the URL has a login of its own.
    has_login: bool,
}

/// Returns the sections for a URL.
pub fn matching(sections: &[HostSection], url: &[u8]) -> Matching {
    let place = if sections.is_empty() { None } else { Place::of(url) };
    let Some(place) = place else { return Matching::default() };
    let fits = |section: &HostSection| section.hosts.iter().any(|host| host.fits(&place));
    let numbers = (0..sections.len()).filter(|number| fits(&sections[*number])).collect();
    Matching { numbers, has_login: place.has_login }
}

/// Returns the request with the options of these sections that it has not set itself.
pub fn merged(request: &Request, sections: &[HostSection], matching: &Matching) -> Request {
    let mut merged = request.clone();
    for section in matching.numbers.iter().map(|number| &sections[*number].request) {
        merge_options(&mut merged.options, &section.options);
        merged.cookies.extend(section.cookies.iter().cloned());
        merged.insecure |= section.insecure;
        merged.ssl_required |= section.ssl_required;
        merged.ssl_try |= section.ssl_try;
        for (own, theirs) in [
            (&mut merged.retries, section.retries),
            (&mut merged.retry_delay_ms, section.retry_delay_ms),
            (&mut merged.retry_max_ms, section.retry_max_ms),
        ] {
            *own = if *own == 0 { theirs } else { *own };
        }
        if (merged.tls_min, merged.tls_max) == (0, 0) {
            (merged.tls_min, merged.tls_max) = (section.tls_min, section.tls_max);
        }
    }
    if matching.has_login && request.options.get(O::UserPwd).is_none() {
        merged.options.clear(O::UserPwd);
    }
    merged
}

fn merge_options(own: &mut Options, theirs: &Options) {
    let has_proxy = PROXY.iter().any(|key| *key != Key::Lib(O::ProxyType) && own.get(*key).is_some());
    for (key, value) in theirs.iter().filter(|(key, _)| !(has_proxy && PROXY.contains(key))) {
        match value {
            Value::List(lines) => {
                for line in lines {
                    let is_set = own.list(*key).iter().any(|known| field_name(known) == field_name(line));
                    if !is_set {
                        own.push(*key, line);
                    }
                }
            }
            value if own.get(*key).is_none() => own.set(*key, value.clone()),
            _ => {}
        }
    }
}

/// Returns the name of a header line in lower case.
fn field_name(line: &[u8]) -> Bytes {
    line.split(|byte| matches!(byte, b':' | b';'))
        .next()
        .unwrap_or_default()
        .trim_ascii()
        .to_ascii_lowercase()
}

/// The options that sections have given a transfer, to be taken back while it is at another host.
pub struct AppliedSections {
    numbers: Vec<usize>,
    given: Vec<(O, raw::Value)>,
    taken_back: Vec<(O, raw::Value)>,
    are_in_force: Cell<bool>,
}

impl AppliedSections {
    /// Compares the settings of a transfer without sections and with these ones.
    pub fn new(numbers: Vec<usize>, without: &[Setting], with: &[Setting]) -> AppliedSections {
        let changed = with.iter().chain(without).map(|setting| setting.option);
        let value_in = |list: &[Setting], option: O| {
            let setting = list.iter().rfind(|setting| setting.option == option && !setting.is_pointer())?;
            plain(&setting.value)
        };
        let fresh = Easy::new(Rc::new(Nobody));
        let (mut given, mut taken_back) = (Vec::new(), Vec::new());
        for option in changed {
            let (ours, theirs) = (value_in(without, option), value_in(with, option));
            if ours == theirs || given.iter().any(|(known, _)| *known == option) {
                continue;
            }
            given.push((option, theirs.unwrap_or_else(|| fresh.get(option))));
            taken_back.push((option, ours.unwrap_or_else(|| fresh.get(option))));
        }
        AppliedSections { numbers, given, taken_back, are_in_force: Cell::new(true) }
    }

    /// Gives or takes back the options, as the sections name the host of the next request or not.
    pub fn go_to(&self, sections: &[HostSection], url: &[u8], easy: &Easy) {
        let there = matching(sections, url).numbers;
        self.put_in_force(self.numbers.iter().all(|number| there.contains(number)), easy);
    }

    /// Gives the options for an attempt from the beginning.
    pub fn restart(&self, easy: &Easy) {
        self.put_in_force(true, easy);
    }

    fn put_in_force(&self, on: bool, easy: &Easy) {
        if self.are_in_force.replace(on) == on {
            return;
        }
        for (option, value) in if on { &self.given } else { &self.taken_back } {
            let set = easy.set(*option, value.clone());
            // A refused value would leave a credential in force at another host.
            assert!(set.is_ok(), "{option:?} was set before");
        }
    }
}

/// Returns a value for the library; forms are no part of sections.
fn plain(value: &Value) -> Option<raw::Value> {
    match value {
        Value::Long(number) => Some(raw::Value::Long(*number)),
        Value::Text(text) => Some(raw::Value::Text(text.clone())),
        Value::List(list) => Some(raw::Value::List(list.clone())),
        Value::Default | Value::Form(_) => None,
    }
}

/// The callbacks of a handle that is never used.
struct Nobody;

impl Callbacks for Nobody {}

#[cfg(test)]
mod tests;
