//! International host names: UTF-8 to punycode and back (IDNA 2008, non-transitional, as libidn2 does it).

use idna::AsciiDenyList;

use super::{UrlError, host};

/// Returns the ASCII form of a host. An ASCII host is returned unchanged.
///
/// Full-width letters and similar characters become ASCII. If the result contains a character that ends a
/// host or starts a port, the host is invalid (UTS 46 section 4, the URL Standard's forbidden code points,
/// and what this parser refuses in any host). A host that becomes an IPv4 address is returned as that
/// address, in dotted decimal form.
pub fn unicode_to_ascii(host: &[u8]) -> Result<Vec<u8>, UrlError> {
    if host.is_ascii() {
        return Ok(host.to_vec());
    }
    let ascii =
        idna::domain_to_ascii_cow(host, AsciiDenyList::URL).map_err(|_| UrlError::BadHostname)?.into_owned();
    let labels = ascii.strip_suffix('.').unwrap_or(&ascii).split('.');
    let fits = ascii.len() <= 253 && labels.into_iter().all(|label| (1..=63).contains(&label.len()));
    if !fits || !host::is_name(ascii.as_bytes()) {
        return Err(UrlError::BadHostname);
    }
    Ok(host::canonical(ascii.into_bytes()))
}

/// The Unicode form of a host that has a punycode label; any other is returned as it is.
pub fn ascii_to_unicode(host: &[u8]) -> Result<Vec<u8>, UrlError> {
    let has_punycode = host.is_ascii()
        && host
            .split(|&octet| octet == b'.')
            .any(|label| label.get(..4).is_some_and(|prefix| prefix.eq_ignore_ascii_case(b"xn--")));
    if !has_punycode {
        return Ok(host.to_vec());
    }
    let text = std::str::from_utf8(host).map_err(|_| UrlError::BadHostname)?;
    let (unicode, outcome) = idna::domain_to_unicode(text);
    outcome.map_err(|_| UrlError::BadHostname)?;
    Ok(unicode.into_bytes())
}
