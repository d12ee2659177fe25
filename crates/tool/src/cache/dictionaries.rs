//! Stored replies as compression dictionaries (RFC 9842). A reply that its server offers as one is listed
//! under its origin: an entry without a body, which has the URL. Its content stays where the reply is stored,
//! so that a dictionary is fresh as long as the reply, and is removed with it.

use super::{Cache, Entry, MOST_VARIANTS, digits, key, now};
use crate::raw::rules::{self, UseAsDictionary, Verdict};
use crate::raw::{Dictionary, RequestAdditions};
use crate::url::parse_url;
use sha2::{Digest, Sha256};
use std::cmp::Reverse;
use std::io::Read;
use std::rc::Rc;

/// Largest reply that serves as a dictionary: it is held in memory.
const LARGEST: u64 = 16 << 20;

/// Returns the key of the dictionaries of a URL's origin. Dictionaries are for https only (§8).
fn origin_key(url: &[u8]) -> Option<String> {
    let url = parse_url(url).ok().filter(|url| url.scheme().as_deref() == Some("https"))?;
    let (host, port) = (url.host()?.to_ascii_lowercase(), url.port_or_default()?);
    Some(key(&[b"dictionaries of ".as_slice(), &host, format!(":{port}").as_bytes()].concat()))
}

fn listing(origin: &str, entry: &Entry) -> String {
    let mut text = Sha256::new_with_prefix(&entry.partition);
    text.update(b" ");
    text.update(&entry.url);
    format!("{origin}-{}", digits(&text.finalize()))
}

impl Cache {
    /// Lists a stored reply as a dictionary of its origin.
    pub(super) fn list_dictionary(&self, entry: Entry) {
        let Some(origin) = origin_key(&entry.url) else { return };
        let stem = listing(&origin, &entry);
        // If it cannot be listed, it is not used.
        if let Ok(size) = self.folder.publish(&stem, Entry { body: None, ..entry }, None) {
            self.has_grown(size);
        }
    }

    /// Returns the best dictionary for a request: the one with the longest pattern, and of several the latest
    /// (§2.2.4).
    pub fn dictionary(&self, url: &[u8], partition: &str) -> Option<RequestAdditions> {
        let origin = origin_key(url)?;
        let mut listed = self.folder.entries(&origin);
        listed.retain(|(stem, entry)| *stem == listing(&origin, entry));
        listed.sort_by_key(|(_, entry)| Reverse(entry.received));
        let kept = listed.len().min(MOST_VARIANTS);
        listed.drain(kept..).for_each(|(stem, _)| self.folder.remove(&stem));
        let mut fitting: Vec<_> = listed
            .iter()
            .filter(|(_, entry)| entry.partition == partition)
            .filter_map(|(stem, entry)| Some((stem, entry, UseAsDictionary::of(&entry.fields)?)))
            .filter(|(_, entry, offer)| offer.is_for(&entry.url, url))
            .collect();
        fitting.sort_by_key(|(_, _, offer)| Reverse(offer.pattern.len()));
        fitting.iter().find_map(|(stem, entry, offer)| {
            let found = self.content(entry, offer);
            if found.is_none() {
                self.folder.remove(stem);
            }
            let dictionary = found?;
            let fields = offer.request_fields(&dictionary.sum);
            let line = |(name, value): &rules::Field| [name.as_slice(), b": ", value].concat();
            Some(RequestAdditions {
                fields: fields.iter().map(line).collect(),
                dictionary: Some(Rc::new(dictionary)),
            })
        })
    }

    /// Reads the content of a listed reply, if it is still stored and fresh, and its server offers it still.
    fn content(&self, listed: &Entry, wanted: &UseAsDictionary) -> Option<Dictionary> {
        let mut stored = self.folder.entries(&key(&listed.url));
        stored.retain(|(stem, entry)| {
            super::stem(entry) == *stem
                && (&entry.url, &entry.partition) == (&listed.url, &listed.partition)
                && entry.is_dictionary()
                && UseAsDictionary::of(&entry.fields).as_ref() == Some(wanted)
        });
        let (stem, entry) = stored.into_iter().max_by_key(|(_, entry)| entry.received)?;
        let is_fresh = matches!(rules::verdict(&[], entry.kept(), now()), Verdict::Serve { .. });
        let body = entry.body.as_ref().filter(|body| is_fresh && (1..=LARGEST).contains(&body.length))?;
        let mut bytes = Vec::new();
        self.folder.body(&stem, body)?.take(body.length).read_to_end(&mut bytes).ok()?;
        self.folder.touch(&stem);
        Some(Dictionary::new(bytes))
    }
}
