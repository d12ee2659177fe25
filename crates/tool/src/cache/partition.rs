//! The cache partition: which stored replies to one URL may serve a request, besides the fields of `Vary`.
//!
//! The engine supplies the terms of the connection as canonical bytes. Every option counts as well, unless
//! its row says that no reply depends on it. So a reply of another server, of a server whose certificate was
//! not checked, or of another login is never served.

use super::folder::{Key, digits};
use crate::bytes::Bytes;
use crate::options::{Options, ToolOption};
use crate::raw::EasyOption as O;
use crate::raw::archive::fields::is_harmless;
use crate::raw::constant::{CURLAUTH_NEGOTIATE, CURLAUTH_NTLM};
use crate::raw::rules::{self, Field};
use crate::request::Request;
use crate::settings::Setting;
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::collections::HashMap;

/// Number of hash rounds for secrets, so that passwords cannot be guessed quickly from file names.
const ROUNDS: usize = 20_000;

/// CURLAUTH_ bits of schemes that prove who a connection is.
const OF_CONNECTIONS: i64 = (CURLAUTH_NEGOTIATE | CURLAUTH_NTLM) as i64;

/// Options that do not separate replies, because the rules decide about them: a range is in the request's
/// fields, and the reply to a POST is stored only if it is one to a GET of the same URL.
const OF_THE_RULES: [O; 3] = [O::Range, O::PostFields, O::PostFieldSizeLarge];

/// Returns why a request does not use the cache: resumed downloads and conditions of its own, methods other
/// than GET and HEAD, bodies that are not the reply's, and logins that are not on the command line.
pub fn bypass(request: &Request) -> Option<&'static str> {
    let options: &Options = &request.options;
    let given = |option: O| options.get(option).is_some();
    let reasons = [
        (given(O::Range) && options.is_on(ToolOption::Compressed), "--range with --compressed"),
        (request.resume.is_some(), "--continue-at"),
        (request.retry_resume, "--retry-resume"),
        (options.get(ToolOption::EtagCompare).is_some(), "--etag-compare"),
        (given(O::TimeCondition), "--time-cond"),
        (given(O::CustomRequest), "--request"),
        (given(O::RequestTarget), "--request-target"),
        (options.is_on(ToolOption::Raw), "--raw"),
        (options.is_on(O::IgnoreContentLength), "--ignore-content-length"),
        (request.netrc || request.netrc_optional || given(O::NetrcFile), "--netrc"),
        (options.long(O::HttpAuth).unwrap_or(0) & OF_CONNECTIONS != 0, "--negotiate, --ntlm and --anyauth"),
    ];
    reasons.iter().find(|(is, _)| *is).map(|(_, what)| *what)
}

/// Returns the options of a transfer on which a reply may depend. Files that they name, and the proxy of the
/// environment, are in the peer's terms ([`PlannedRequest::peer`](crate::raw::PlannedRequest)).
pub fn of_options(list: &[Setting]) -> String {
    let counts = |setting: &&Setting| {
        let neutral = setting.option.is_reply_neutral() || OF_THE_RULES.contains(&setting.option);
        !setting.is_pointer() && !neutral
    };
    let line = |setting: &Setting| format!("{} {:?}\n", setting.option.name(), setting.value);
    list.iter().filter(counts).map(line).collect()
}

/// The fields of a request that may say who asks, or of which of a server's names: all that are not known to
/// be harmless.
pub fn of_fields(fields: &[Field]) -> String {
    let mut names: Vec<Bytes> = fields.iter().map(|(name, _)| name.to_ascii_lowercase()).collect();
    names.retain(|name| !is_harmless(name));
    // The order of values with the same name matters, that of names does not.
    names.sort();
    names.dedup();
    format!("{:?}\n", rules::selected(&names, fields))
}

/// Names of partitions, under the key of a directory. Results are cached: of a thousand transfers most have
/// the same.
pub struct Sums {
    key: Key,
    known: RefCell<HashMap<Bytes, String>>,
}

impl Sums {
    pub fn new(key: Key) -> Sums {
        Sums { key, known: RefCell::default() }
    }

    /// The name of a partition.
    pub fn of(&self, text: &[u8]) -> String {
        let mut known = self.known.borrow_mut();
        if let Some(sum) = known.get(text) {
            return sum.clone();
        }
        let mut sum = Sha256::new_with_prefix(self.key).chain_update(text).finalize();
        for _ in 0..ROUNDS {
            sum = Sha256::digest(sum);
        }
        known.entry(text.to_vec()).or_insert_with(|| digits(&sum)).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_outside_the_allow_list_change_the_partition() {
        let setting = |option, number: i64| Setting::new(option, number);
        let of = |list: &[Setting]| of_options(list);
        assert_eq!(of(&[setting(O::TimeoutMs, 5), setting(O::Verbose, 1)]), "");
        assert_eq!(of(&[setting(O::PostFieldSizeLarge, 5)]), "");
        assert_ne!(of(&[setting(O::SslVerifyPeer, 0)]), "");
        assert_ne!(of(&[setting(O::HttpAuth, 1)]), of(&[setting(O::HttpAuth, 2)]));
        let sums = Sums::new([1; 32]);
        assert!(sums.of(b"a") != sums.of(b"b") && sums.of(b"a") == Sums::new([1; 32]).of(b"a"));
        assert_ne!(sums.of(b"a"), Sums::new([2; 32]).of(b"a"));
    }

    #[test]
    fn fields_that_nobody_knows_count() {
        let of = |fields: &[(&str, &str)]| {
            let fields: Vec<Field> = fields
                .iter()
                .map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec()))
                .collect();
            of_fields(&fields)
        };
        assert_eq!(of(&[("Accept", "a"), ("User-Agent", "b")]), of(&[]));
        assert_ne!(of(&[("X-Api-Key", "a")]), of(&[("X-Api-Key", "b")]));
        assert_ne!(of(&[("PRIVATE-TOKEN", "a")]), of(&[]));
        assert_eq!(of(&[("A", "1"), ("B", "2")]), of(&[("b", "2"), ("a", "1")]));
        assert_eq!(of(&[("A", "1, 2")]), of(&[("a", "1"), ("A", "2")]));
        assert_ne!(of(&[("A", "1"), ("a", "2")]), of(&[("A", "2"), ("a", "1")]));
    }
}
