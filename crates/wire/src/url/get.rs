//! `curl_url_get`: one part, or the whole URL put together again.

use std::borrow::Cow;

use super::decimal::Decimal;
use super::encode::{Space, encode_piece};
use super::{DEFAULT_SCHEME, Part, Url, UrlError, flag, idn, scheme};
use crate::escape::{self, Reject};

impl Url {
    /// Returns a part in the form selected by the flags. The error says which part is absent.
    pub fn get(&self, part: Part, flags: u32) -> Result<Vec<u8>, UrlError> {
        let has = |bit: u32| flags & bit != 0;
        match part {
            Part::Url => self.whole(flags),
            Part::Scheme if has(flag::NO_GUESS_SCHEME) && self.scheme_was_guessed => Err(UrlError::NoScheme),
            Part::Scheme => {
                let name = self.scheme_as_written().ok_or(UrlError::NoScheme)?;
                Ok(name.to_vec())
            }
            Part::Port => {
                let port = self.port_to_show(self.scheme_as_written(), flags).ok_or(UrlError::NoPort)?;
                Ok(port.to_string().into_bytes())
            }
            Part::User => transcode(self.user().ok_or(UrlError::NoUser)?, flags, false),
            Part::Password => transcode(self.password().ok_or(UrlError::NoPassword)?, flags, false),
            Part::Options => transcode(self.options().ok_or(UrlError::NoOptions)?, flags, false),
            Part::ZoneId => transcode(self.zone_id().ok_or(UrlError::NoZoneId)?, flags, false),
            Part::Path => transcode(self.path(), flags, false),
            Part::Query => {
                let query = self.query_to_show(flags).ok_or(UrlError::NoQuery)?;
                transcode(query, flags, true)
            }
            Part::Fragment => {
                let fragment = self.fragment_to_show(flags).ok_or(UrlError::NoFragment)?;
                transcode(fragment, flags, false)
            }
            Part::Host => self.host_part(flags),
        }
    }

    /// Returns whether the whole URL with these flags is that text.
    pub fn is_written(&self, text: &[u8], flags: u32) -> bool {
        let mut rest = Some(text);
        let mut compare = |piece: &[u8]| rest = rest.and_then(|rest| rest.strip_prefix(piece));
        let complete = self.write_whole(&mut compare, flags).is_ok();
        complete && rest.is_some_and(<[u8]>::is_empty)
    }

    /// Writes everything before the path, as in the whole URL.
    pub(super) fn write_up_to_path(&self, out: &mut impl FnMut(&[u8]), flags: u32) -> Result<(), UrlError> {
        if self.is_file() {
            out(b"file://");
            return Ok(());
        }
        let host = self.host().ok_or(UrlError::NoHost)?;
        let name = match self.scheme_as_written() {
            Some(name) => name,
            None if flags & flag::DEFAULT_SCHEME != 0 => DEFAULT_SCHEME.as_bytes(),
            None => return Err(UrlError::NoScheme),
        };
        if flags & flag::NO_GUESS_SCHEME == 0 || !self.scheme_was_guessed {
            out(name);
            out(b"://");
        }
        self.write_login(out, name);
        out(&self.host_in_url(host, flags)?);
        if let Some(port) = self.port_to_show(Some(name), flags) {
            out(b":");
            out(Decimal::of(port).digits());
        }
        Ok(())
    }

    pub(super) fn is_file(&self) -> bool {
        self.scheme_as_written().is_some_and(|name| name.eq_ignore_ascii_case(b"file"))
    }

    fn whole(&self, flags: u32) -> Result<Vec<u8>, UrlError> {
        let query = self.query_to_show(flags);
        // Room for the parts besides path and query: it grows at most once.
        let mut out = Vec::with_capacity(self.path().len() + query.map_or(0, <[u8]>::len) + 48);
        self.write_whole(&mut |piece: &[u8]| out.extend_from_slice(piece), flags)?;
        Ok(out)
    }

    fn write_whole(&self, out: &mut impl FnMut(&[u8]), flags: u32) -> Result<(), UrlError> {
        self.write_up_to_path(out, flags)?;
        out(self.path());
        if let Some(query) = self.query_to_show(flags) {
            out(b"?");
            out(query);
        }
        if let Some(fragment) = self.fragment_to_show(flags) {
            out(b"#");
            out(fragment);
        }
        Ok(())
    }

    fn write_login(&self, out: &mut impl FnMut(&[u8]), scheme_name: &[u8]) {
        let shows_options = scheme(scheme_name).is_none_or(|known| known.has_login_options);
        let options = self.options().filter(|_| shows_options);
        if self.user().is_none() && self.password().is_none() && options.is_none() {
            return;
        }
        out(self.user().unwrap_or_default());
        for (separator, part) in [(b":", self.password()), (b";", options)] {
            if let Some(part) = part {
                out(separator);
                out(part);
            }
        }
        out(b"@");
    }

    fn host_in_url<'a>(&self, host: &'a [u8], flags: u32) -> Result<Cow<'a, [u8]>, UrlError> {
        match (host, self.zone_id()) {
            ([b'[', inner @ .., b']'], Some(zone)) => Ok([b"[", inner, b"%25", zone, b"]"].concat().into()),
            ([b'[', ..], _) => Ok(host.into()),
            _ if flags & flag::URLENCODE != 0 => Ok(escape::encode(host).into()),
            _ => in_other_alphabet(host, flags),
        }
    }

    fn host_part(&self, flags: u32) -> Result<Vec<u8>, UrlError> {
        let host = self.host().ok_or(UrlError::NoHost)?;
        if flags & flag::URLENCODE != 0 {
            return transcode(host, flags, false);
        }
        Ok(in_other_alphabet(&transcode(host, flags, false)?, flags)?.into_owned())
    }

    fn port_to_show(&self, scheme_name: Option<&[u8]>, flags: u32) -> Option<u16> {
        let default = scheme_name.and_then(scheme).map(|known| known.default_port);
        match self.port {
            None if flags & flag::DEFAULT_PORT != 0 => default,
            port if flags & flag::NO_DEFAULT_PORT != 0 && port == default => None,
            port => port,
        }
    }

    fn query_to_show(&self, flags: u32) -> Option<&[u8]> {
        self.query().filter(|query| !query.is_empty() || flags & flag::GET_EMPTY != 0)
    }

    fn fragment_to_show(&self, flags: u32) -> Option<&[u8]> {
        let shows_empty = self.fragment_was_set || flags & flag::GET_EMPTY != 0;
        self.fragment().filter(|fragment| !fragment.is_empty() || shows_empty)
    }
}

fn in_other_alphabet(host: &[u8], flags: u32) -> Result<Cow<'_, [u8]>, UrlError> {
    Ok(if flags & flag::PUNYCODE != 0 {
        idn::unicode_to_ascii(host)?.into()
    } else if flags & flag::PUNY2IDN != 0 {
        idn::ascii_to_unicode(host)?.into()
    } else {
        host.into()
    })
}

/// Decodes and encodes as requested. In a query, a plus sign means a space.
fn transcode(value: &[u8], flags: u32, is_query: bool) -> Result<Vec<u8>, UrlError> {
    let mut out = value.to_vec();
    if flags & flag::URLDECODE != 0 {
        if is_query {
            out.iter_mut().filter(|octet| **octet == b'+').for_each(|octet| *octet = b' ');
        }
        out = escape::decode(&out, Reject::Control).map_err(|_| UrlError::UrlDecode)?;
    }
    if flags & flag::URLENCODE != 0 {
        let space = if is_query { Space::Plus } else { Space::PlusInQuery };
        out = encode_piece(&out, space);
    }
    Ok(out)
}
