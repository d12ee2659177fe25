//! `curl_url_set`: one part replaced or cleared, or the whole URL.

use super::encode::{encode_path, encode_query, encode_value, uppercase_triplets};
use super::host::{check_host, parse_port};
use super::texts::TextPart;
use super::{INPUT_LIMIT, Part, SCHEME_LIMIT, Url, UrlError, flag, parse, scheme};
use crate::escape::{self, Reject};

impl Url {
    /// Replaces the part, or clears it if `value` is `None`. On an error nothing changes.
    pub fn set(&mut self, part: Part, value: Option<&[u8]>, flags: u32) -> Result<(), UrlError> {
        let Some(value) = value else {
            self.clear(part);
            return Ok(());
        };
        if value.len() > INPUT_LIMIT {
            return Err(UrlError::MalformedInput);
        }
        match part {
            Part::Url => self.set_url(value, flags)?,
            Part::Scheme => self.set_scheme(value, flags)?,
            Part::Host => self.set_host(value, flags)?,
            Part::Port => self.port = Some(parse_port(value)?),
            Part::Path => self.texts.set(TextPart::Path, Some(&path_value(value, flags))),
            Part::Query => self.set_query(value, flags)?,
            Part::User => self.set_optional(TextPart::User, value, flags),
            Part::Password => self.set_optional(TextPart::Password, value, flags),
            Part::Options => self.set_optional(TextPart::Options, value, flags),
            Part::ZoneId => self.set_optional(TextPart::ZoneId, value, flags),
            Part::Fragment => {
                self.texts.set(TextPart::Fragment, Some(&plain_value(value, flags)));
                self.fragment_was_set = flags & flag::URLENCODE == 0;
            }
        }
        Ok(())
    }

    /// The authority of an HTTP/2 pushed request replaces this URL's.
    pub fn set_authority(&mut self, authority: &[u8]) -> Result<(), UrlError> {
        let mut changed = Url { port: None, ..self.clone() };
        changed.texts.set(TextPart::Host, None);
        changed.texts.set(TextPart::ZoneId, None);
        let has_scheme = self.scheme_as_written().is_some();
        super::host::parse_authority(&mut changed, authority, flag::DISALLOW_USER, has_scheme)?;
        *self = changed;
        Ok(())
    }

    fn clear(&mut self, part: Part) {
        match part {
            Part::Url => *self = Url::default(),
            Part::Scheme => {
                self.texts.set(TextPart::Scheme, None);
                self.scheme_was_guessed = false;
            }
            Part::User => self.texts.set(TextPart::User, None),
            Part::Password => self.texts.set(TextPart::Password, None),
            Part::Options => self.texts.set(TextPart::Options, None),
            Part::Host => self.texts.set(TextPart::Host, None),
            Part::Port => self.port = None,
            Part::Path => self.texts.set(TextPart::Path, None),
            Part::Query => self.texts.set(TextPart::Query, None),
            Part::Fragment => {
                self.texts.set(TextPart::Fragment, None);
                self.fragment_was_set = false;
            }
            Part::ZoneId => self.texts.set(TextPart::ZoneId, None),
        }
    }

    /// A new URL, or one relative to this if this is complete.
    fn set_url(&mut self, value: &[u8], flags: u32) -> Result<(), UrlError> {
        let guesses = flags & (flag::GUESS_SCHEME | flag::DEFAULT_SCHEME) != 0;
        let is_absolute = parse::split_scheme(value, guesses).is_some();
        let is_complete = self.get(Part::Url, flags & flag::DEFAULT_SCHEME).is_ok();
        *self = if is_absolute || !is_complete {
            parse::parse(value, flags)?
        } else {
            self.resolve(value, flags)?
        };
        Ok(())
    }

    fn set_scheme(&mut self, value: &[u8], flags: u32) -> Result<(), UrlError> {
        let name = std::str::from_utf8(value).map_err(|_| UrlError::BadScheme)?;
        if name.is_empty() || name.len() > SCHEME_LIMIT {
            return Err(UrlError::BadScheme);
        }
        if flags & flag::NON_SUPPORT_SCHEME == 0 && scheme(value).is_none() {
            return Err(UrlError::UnsupportedScheme);
        }
        let is_valid = value[0].is_ascii_alphabetic()
            && value.iter().all(|octet| octet.is_ascii_alphanumeric() || b"+-.".contains(octet));
        if !is_valid {
            return Err(UrlError::BadScheme);
        }
        self.texts.set(TextPart::Scheme, Some(value));
        self.scheme_was_guessed = false;
        Ok(())
    }

    /// A host may come percent-encoded and then stays so; an address is taken as written, but for its zone.
    fn set_host(&mut self, value: &[u8], flags: u32) -> Result<(), UrlError> {
        let stored = plain_value(value, flags);
        let mut changed = self.clone();
        changed.texts.set(TextPart::ZoneId, None);
        let host = if stored.is_empty() && flags & flag::NO_AUTHORITY != 0 {
            stored
        } else {
            let encoded_here = flags & flag::URLENCODE != 0;
            let decoded = if encoded_here {
                stored.clone()
            } else {
                escape::decode(&stored, Reject::Control).map_err(|_| UrlError::BadHostname)?
            };
            let checked = check_host(&mut changed, decoded).map_err(|_| UrlError::BadHostname)?;
            if changed.zone_id().is_some() { checked } else { stored }
        };
        changed.texts.set(TextPart::Host, Some(&host));
        *self = changed;
        Ok(())
    }

    fn set_query(&mut self, value: &[u8], flags: u32) -> Result<(), UrlError> {
        let appends = flags & flag::APPENDQUERY != 0;
        let new = if flags & flag::URLENCODE != 0 {
            encode_query(value, appends)
        } else {
            uppercase_triplets(value)
        };
        // An empty value that is to be encoded clears the part here, too.
        let clears = value.is_empty() && flags & flag::URLENCODE != 0;
        let query = match self.query().filter(|old| appends && !old.is_empty() && !clears) {
            Some(old) if old.len() + new.len() >= INPUT_LIMIT => return Err(UrlError::TooLarge),
            Some(old) if old.ends_with(b"&") => [old, &new].concat(),
            Some(old) => [old, b"&", &new].concat(),
            None => new,
        };
        self.texts.set(TextPart::Query, Some(&query));
        Ok(())
    }

    /// An empty value that is to be encoded clears the part, as in curl.
    fn set_optional(&mut self, part: TextPart, value: &[u8], flags: u32) {
        let clears = value.is_empty() && flags & flag::URLENCODE != 0;
        self.texts.set(part, (!clears).then(|| plain_value(value, flags)).as_deref());
    }
}

fn plain_value(value: &[u8], flags: u32) -> Vec<u8> {
    if flags & flag::URLENCODE != 0 { encode_value(value, |_| false) } else { uppercase_triplets(value) }
}

fn path_value(value: &[u8], flags: u32) -> Vec<u8> {
    let value = if flags & flag::URLENCODE != 0 { encode_path(value) } else { uppercase_triplets(value) };
    if value.starts_with(b"/") { value } else { [b"/", value.as_slice()].concat() }
}
