//! Fields of a head under construction, and the application's own header lines (CURLOPT_HTTPHEADER(3),
//! CURLOPT_PROXYHEADER(3)).

use net::exchange::{RequestBody, RequestHead};
use tables::EasyOption as O;
use tables::scheme::Family;
use wire::http1::own_line;

use super::decide::request::{Own, adds_own_line};
use super::http_transfer::HttpTransfer;
use super::version::{asks_for_http2, is_on_stream};
use crate::settings::Text;
use crate::transfer::Transfer;
use crate::transfer::client_reader::ClientReader;
use crate::transfer::link::HttpLink;

/// Returns whether CURLOPT_TRANSFER_ENCODING is set, and the application has no TE field of its own.
pub fn wants_te(t: &Transfer, custom: &Custom) -> bool {
    t.on(O::TransferEncoding) && !custom.names("TE")
}

/// A head under construction.
pub struct Head<'a> {
    /// The bytes so far.
    pub out: RequestHead,
    /// The application's own lines.
    pub custom: &'a Custom,
}

impl<'a> Head<'a> {
    /// Starts a head. The application's own fields replace the default ones.
    pub fn new(out: RequestHead, custom: &'a Custom) -> Head<'a> {
        Head { out, custom }
    }

    /// Adds whole lines.
    pub fn lines(&mut self, mut lines: &[u8]) {
        while let Some(end) = lines.windows(2).position(|w| w == b"\r\n") {
            self.out.line(&[&lines[..end]]);
            lines = &lines[end + 2..];
        }
    }

    /// Adds a field.
    pub fn field(&mut self, name: &str, value: &[u8]) {
        self.out.field(name, value);
    }

    /// Adds the application's own lines, except Connection.
    pub fn custom_lines(&mut self, t: &HttpTransfer, body: &ClientReader) {
        self.custom.append(self, t, body);
    }

    /// The application's Connection fields, behind all others. RFC 9110 §10.1.4: a TE field wants to be named
    /// in the first.
    pub fn connection_field(&mut self, t: &HttpTransfer, link: &HttpLink) {
        let named = [
            (wants_te(t, self.custom), &b"TE"[..]),
            (t.scheme().family() == Family::Ws && !is_on_stream(t, link), b"Upgrade"),
            (asks_for_http2(t, link), b"Upgrade, HTTP2-Settings"),
        ];
        let named = named.into_iter().filter_map(|(wanted, name)| wanted.then_some(name));
        let mut own = self.custom.values("Connection");
        let first: Vec<&[u8]> = own.next().into_iter().chain(named).collect();
        let first = first.join(&b", "[..]);
        if !first.is_empty() {
            self.field("Connection", &first);
        }
        own.for_each(|value| self.out.field("Connection", value));
    }

    /// Ends it.
    pub fn end(mut self, follows: RequestBody) -> RequestHead {
        self.out.end(follows);
        self.out
    }

    /// A field that an application may replace or remove with CURLOPT_HTTPHEADER.
    pub fn unless_custom(&mut self, name: &str, value: Option<&[u8]>) {
        if let Some(value) = value
            && !self.custom.names(name)
        {
            self.field(name, value);
        }
    }
}

/// The application's own header lines that apply to this request.
pub struct Custom {
    lines: Vec<Text>,
    /// Number of lines for the server; the rest are those of CURLOPT_PROXYHEADER, for a proxy that forwards
    /// the request.
    own: usize,
}

impl Custom {
    /// Returns the lines of this transfer.
    pub fn of(t: &Transfer, link: &HttpLink) -> Custom {
        let settings = t.easy.settings.borrow();
        let own = settings.list(O::HttpHeader).to_vec();
        let separate = settings.long(O::HeaderOpt) & 1 != 0;
        let for_proxy = match link.forwarder().is_some() && separate {
            true => settings.list(O::ProxyHeader).to_vec(),
            false => Vec::new(),
        };
        drop(settings);
        Custom::permitted(t, own, for_proxy)
    }

    /// Keeps the lines that may be sent to the current server.
    pub fn permitted(t: &Transfer, own: Vec<Text>, for_proxy: Vec<Text>) -> Custom {
        let permitted = |lines: Vec<Text>| if lines.is_empty() { lines } else { t.permitted_lines(&lines) };
        let mut lines = permitted(own);
        let own = lines.len();
        lines.extend(permitted(for_proxy));
        Custom { lines, own }
    }

    /// Keeps the lines for the server that satisfy a condition.
    pub fn retain(&mut self, mut keeps: impl FnMut(&[u8]) -> bool) {
        let (own, mut index) = (self.own, 0);
        self.lines.retain(|line| {
            index += 1;
            let is_kept = index > own || keeps(line);
            self.own -= usize::from(!is_kept);
            is_kept
        });
    }

    /// Adds lines for the server.
    pub fn add(&mut self, lines: impl Iterator<Item = Text>) {
        let before = self.lines.len();
        self.lines.splice(self.own..self.own, lines);
        self.own += self.lines.len() - before;
    }

    /// Puts lines for the server in place of those with the same names.
    pub fn replace(&mut self, lines: &[Vec<u8>]) {
        let name = |line: &[u8]| own_line(line).map(|(name, _)| name.to_ascii_lowercase());
        let replaced: Vec<_> = lines.iter().map(|line| name(line)).collect();
        self.retain(|line| !replaced.contains(&name(line)));
        self.add(lines.iter().map(|line| Text::from(line.as_slice())));
    }

    /// Returns the lines with this field, each with its value by `own_line`. As in curl, lines for a proxy
    /// replace only the proxy's own fields among those that a request has by default.
    fn fields<'a>(&'a self, name: &'a str) -> impl Iterator<Item = (&'a Text, Option<&'a [u8]>)> {
        let count = if name.starts_with("Proxy-") { self.lines.len() } else { self.own };
        self.lines[..count].iter().filter_map(move |line| {
            let (own, value) = own_line(line)?;
            own.eq_ignore_ascii_case(name.as_bytes()).then_some((line, value))
        })
    }

    /// Whether a line names this field, with a value or without.
    pub fn names(&self, name: &str) -> bool {
        self.fields(name).next().is_some()
    }

    /// The values of this field, line by line.
    fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.fields(name).filter_map(|(_, value)| value.filter(|value| !value.is_empty()))
    }

    /// Returns the value that a line sets for this field.
    pub fn value<'a>(&'a self, name: &'a str) -> Option<&'a [u8]> {
        self.values(name).next()
    }

    /// Returns the raw text after the colon of a line with a value.
    pub fn behind_colon<'a>(&'a self, name: &'a str) -> Option<&'a [u8]> {
        let (line, _) = self.fields(name).find(|(_, value)| matches!(value, Some([_, ..])))?;
        line.iter().position(|b| *b == b':').map(|at| &line[at + 1..])
    }

    /// "Name;" asks for a field without a value.
    pub fn blanks(&self, name: &str) -> bool {
        self.fields(name).any(|(_, value)| value.is_none())
    }

    /// Names and values of the lines that add something.
    pub fn pairs(&self) -> Vec<(&[u8], &[u8])> {
        let pair = |l| match own_line(l) {
            Some((name, Some(value))) if !value.is_empty() => Some((name, value)),
            _ => None,
        };
        self.lines.iter().filter_map(|l| pair(l)).collect()
    }

    /// Writes the lines that add something.
    fn append(&self, head: &mut Head, t: &HttpTransfer, body: &ClientReader) {
        let request = Own {
            method: t.method,
            form: body.form().is_some(),
            withheld: t.http.auth.withholds_body,
            other_origin: t.other_origin,
        };
        for line in &self.lines {
            let Some((name, value)) = own_line(line) else { continue };
            if !adds_own_line(name, &request) {
                continue;
            }
            match value {
                Some([]) => {}
                Some(_) => {
                    // As it is, "without any filter or other safe guards" (CURLOPT_HTTPHEADER.md).
                    head.out.application_line(line);
                }
                // "Name;" is an empty field.
                None => head.out.line(&[name, b":"]),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transfer::fixture::{lines, transfer};

    fn custom(own: &[&str], for_proxy: &[&str]) -> Custom {
        let t = transfer("http://h/", &[], &[]);
        Custom::permitted(&t, lines(own), lines(for_proxy))
    }

    #[test]
    fn lines_replace_remove_or_blank_a_field() {
        // Whether the field is named, its value, and whether it is sent without one.
        let rows: [(_, &str, (bool, Option<&[u8]>, bool)); 6] = [
            ("CURLOPT_HTTPHEADER(3): a value", "Accept: x", (true, Some(b"x"), false)),
            ("CURLOPT_HTTPHEADER(3): in any case", "aCCEPT: x", (true, Some(b"x"), false)),
            ("CURLOPT_HTTPHEADER(3): removed", "Accept:", (true, None, false)),
            ("CURLOPT_HTTPHEADER(3): blank", "Accept;", (true, None, true)),
            ("CURLOPT_HTTPHEADER(3): another field", "Accept-Language: x", (false, None, false)),
            ("CURLOPT_HTTPHEADER(3): no field", "Accept", (false, None, false)),
        ];
        for (name, line, wanted) in rows {
            let custom = custom(&[line], &[]);
            let found = (custom.names("Accept"), custom.value("Accept"), custom.blanks("Accept"));
            assert_eq!(found, wanted, "{name}");
        }
    }

    #[test]
    fn the_cache_replaces_fields_of_the_application() {
        let mut custom = custom(&["range: bytes=0-9", "X: 1"], &["Range: p"]);
        custom.replace(&[b"Range: bytes=3-6".to_vec(), b"If-Range: \"a\"".to_vec()]);
        let wanted: [(&[u8], &[u8]); 4] =
            [(b"X", b"1"), (b"Range", b"bytes=3-6"), (b"If-Range", b"\"a\""), (b"Range", b"p")];
        assert_eq!(custom.pairs(), wanted, "RFC 9111 §3.4: the rest of a part is requested");
    }

    #[test]
    fn the_first_line_with_a_value_counts() {
        let custom = custom(&["Host:", "Host: a", "Host: b"], &[]);
        assert_eq!(custom.value("Host"), Some(&b"a"[..]), "CURLOPT_HTTPHEADER(3)");
        assert_eq!(custom.behind_colon("Host"), Some(&b" a"[..]), "CURLOPT_AWS_SIGV4(3): as it stands there");
        assert_eq!(custom.pairs(), [(&b"Host"[..], &b"a"[..]), (b"Host", b"b")], "what adds something");
    }

    #[test]
    fn lines_for_a_proxy_stand_for_fields_of_the_proxy_alone() {
        let custom = custom(&["X: 1"], &["User-Agent: p", "Proxy-Connection: close"]);
        let rows = [
            ("CURLOPT_PROXYHEADER(3): a field of the proxy", "Proxy-Connection", true),
            ("CURLOPT_PROXYHEADER(3): one of the request", "User-Agent", false),
            ("CURLOPT_HTTPHEADER(3)", "X", true),
        ];
        for (name, field, wanted) in rows {
            assert_eq!(custom.names(field), wanted, "{name}");
        }
    }
}
