//! Relative references (RFC 3986 section 5.2), as in a `Location:` header or a second `curl_url_set(URL)`.

use super::encode::{Space, encode_piece};
use super::texts::TextPart;
use super::{Url, UrlError, flag, parse};

impl Url {
    /// Applies `reference`, which has no scheme, to this complete URL. Spaces and octets outside ASCII get
    /// encoded on the way: redirecting servers send them raw.
    pub(super) fn resolve(&self, reference: &[u8], flags: u32) -> Result<Url, UrlError> {
        let mut text = match reference {
            [] => return Ok(self.without_fragment()),
            [b'/', b'/', rest @ ..] => return self.resolve_authority(rest, flags),
            _ => self.text_up_to_path(flags)?,
        };
        match reference[0] {
            b'/' => {}
            b'#' => text.extend_from_slice(&self.path_and_query()),
            b'?' => text.extend_from_slice(self.path()),
            _ => {
                let path = self.path();
                let directory_end = path.iter().rposition(|&octet| octet == b'/').map_or(0, |at| at + 1);
                text.extend_from_slice(&path[..directory_end]);
            }
        }
        let in_fragment = reference[0] == b'#';
        text.extend_from_slice(&encode_piece(
            reference,
            if in_fragment { Space::Percent } else { Space::PlusInQuery },
        ));
        parse::parse(&text, flags & !flag::PATH_AS_IS)
    }

    /// Resolves "//host/path": only the scheme is kept. The host is not encoded, because it may be an
    /// international name.
    fn resolve_authority(&self, rest: &[u8], flags: u32) -> Result<Url, UrlError> {
        let scheme = self.scheme_as_written().ok_or(UrlError::NoScheme)?;
        let host_end = rest.iter().position(|octet| b"/?".contains(octet)).unwrap_or(rest.len());
        let tail = encode_piece(&rest[host_end..], Space::PlusInQuery);
        let text = [scheme, b"://", &rest[..host_end], &tail].concat();
        parse::parse(&text, flags & !flag::PATH_AS_IS)
    }

    fn without_fragment(&self) -> Url {
        let mut url = Url { fragment_was_set: false, ..self.clone() };
        url.texts.set(TextPart::Fragment, None);
        url
    }

    fn text_up_to_path(&self, flags: u32) -> Result<Vec<u8>, UrlError> {
        let mut text = Vec::new();
        // A port that is to be shown, or not, is taken so from here on, as in curl.
        let shown = flag::DEFAULT_SCHEME | flag::DEFAULT_PORT | flag::NO_DEFAULT_PORT;
        self.write_up_to_path(&mut |piece: &[u8]| text.extend_from_slice(piece), flags & shown)?;
        Ok(text)
    }
}
