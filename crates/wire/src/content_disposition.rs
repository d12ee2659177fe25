//! Content-Disposition fields of HTTP (RFC 6266), with file names in the extended notation of RFC 8187.
//!
//! Only the name is read. Whether it is safe as the name of a local file is the caller's matter.

/// Longer fields are not read.
const LONGEST_FIELD: usize = 64 * 1024;

/// Returns the file name that a field value suggests: `filename*` if it is valid, `filename` otherwise.
///
/// The name from `filename*` is UTF-8; that from `filename` has the bytes of the field. A `filename*` in
/// another charset than UTF-8 and ISO-8859-1 is ignored, and so is one with a faulty encoding (RFC 6266
/// section 4.3). `None` if there is no name, or if the value does not follow the grammar.
pub fn file_name(value: &[u8]) -> Option<Vec<u8>> {
    let mut rest = Rest(value.trim_ascii());
    if rest.0.len() > LONGEST_FIELD || rest.token().is_empty() {
        return None;
    }
    let (mut extended, mut plain) = (None, None);
    while let Some((name, value)) = rest.parameter()? {
        if name.eq_ignore_ascii_case(b"filename*") {
            extended = extended.or_else(|| decoded(&value).map(String::into_bytes));
        } else if name.eq_ignore_ascii_case(b"filename") {
            plain = plain.or(Some(value));
        }
    }
    extended.or(plain)
}

/// Decodes an ext-value (RFC 8187 section 3.2.1): charset, language and percent-encoded octets.
fn decoded(value: &[u8]) -> Option<String> {
    let mut parts = value.splitn(3, |octet| *octet == b'\'');
    let (charset, _language, encoded) = (parts.next()?, parts.next()?, parts.next()?);
    let octets = percent_decoded(encoded)?;
    if charset.eq_ignore_ascii_case(b"UTF-8") {
        return String::from_utf8(octets).ok();
    }
    let is_latin = charset.eq_ignore_ascii_case(b"ISO-8859-1");
    // Octets of C1 controls: the name is in another charset than the field says.
    let is_text = !octets.iter().any(|octet| (0x80..0xa0).contains(octet));
    (is_latin && is_text).then(|| octets.into_iter().map(char::from).collect())
}

/// Decodes percent-encoded octets. Octets outside of ASCII must be encoded.
fn percent_decoded(encoded: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(encoded.len());
    let mut rest = encoded;
    while let Some((&octet, tail)) = rest.split_first() {
        if octet == b'%' {
            out.push(crate::escape::encoded_octet(rest)?);
            rest = &rest[3..];
        } else {
            out.push(Some(octet).filter(u8::is_ascii)?);
            rest = tail;
        }
    }
    Some(out)
}

/// The unread part of a field.
struct Rest<'v>(&'v [u8]);

impl<'v> Rest<'v> {
    fn token(&mut self) -> &'v [u8] {
        let length = self.0.iter().take_while(|octet| is_token_char(**octet)).count();
        let (token, rest) = self.0.split_at(length);
        self.0 = rest;
        token
    }

    fn skip_blanks(&mut self) {
        self.0 = self.0.trim_ascii_start();
    }

    /// Reads the next parameter, with its name and its unquoted value. The outer `None` is a violation of the
    /// grammar; the inner one is the end. Empty parameters are skipped: many servers end the field by `;`.
    fn parameter(&mut self) -> Option<Option<(&'v [u8], Vec<u8>)>> {
        self.skip_blanks();
        if self.0.is_empty() {
            return Some(None);
        }
        while let Some(rest) = self.0.strip_prefix(b";") {
            self.0 = rest.trim_ascii_start();
            if self.0.is_empty() {
                return Some(None);
            }
            if self.0[0] != b';' {
                return self.named_value().map(Some);
            }
        }
        None
    }

    fn named_value(&mut self) -> Option<(&'v [u8], Vec<u8>)> {
        let name = self.token();
        self.skip_blanks();
        self.0 = self.0.strip_prefix(b"=").filter(|_| !name.is_empty())?;
        self.skip_blanks();
        if let Some(quoted) = self.0.strip_prefix(b"\"") {
            self.0 = quoted;
            return Some((name, self.quoted()?));
        }
        let value = self.token();
        (!value.is_empty()).then(|| (name, value.to_vec()))
    }

    /// Reads the rest of a quoted string (RFC 9110 section 5.6.4).
    fn quoted(&mut self) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        loop {
            let (&octet, rest) = self.0.split_first()?;
            self.0 = rest;
            match octet {
                b'"' => return Some(out),
                b'\\' => {
                    let (&escaped, rest) = self.0.split_first()?;
                    self.0 = rest;
                    out.push(escaped);
                }
                octet => out.push(octet),
            }
        }
    }
}

/// Characters of tokens (RFC 9110 section 5.6.2).
fn is_token_char(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&octet)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(value: &str) -> Option<String> {
        file_name(value.as_bytes()).map(|name| String::from_utf8_lossy(&name).into_owned())
    }

    /// The cases of the public collection for RFC 6266 (greenbytes.de/tech/tc2231), with the names that it
    /// asks for. A field that it calls invalid has no name here.
    #[test]
    fn the_public_collection_of_fields() {
        for (case, value, name) in TC2231 {
            assert_eq!(named(value).as_deref(), *name, "{case}: {value}");
        }
    }

    /// A case's name in the collection, its field value and the file name.
    type Case = (&'static str, &'static str, Option<&'static str>);

    const TC2231: &[Case] = &[
        ("inlonly", "inline", None),
        ("inlonlyquoted", "\"inline\"", None),
        ("inlwithasciifilename", "inline; filename=\"foo.html\"", Some("foo.html")),
        ("inlwithfnattach", "inline; filename=\"Not an attachment!\"", Some("Not an attachment!")),
        ("attonly", "attachment", None),
        ("attonlyucase", "ATTACHMENT", None),
        ("attwithasciifilename", "attachment; filename=\"foo.html\"", Some("foo.html")),
        ("attwithasciifnescapedchar", "attachment; filename=\"f\\oo.html\"", Some("foo.html")),
        (
            "attwithasciifnescapedquote",
            "attachment; filename=\"\\\"quoting\\\" tested.html\"",
            Some("\"quoting\" tested.html"),
        ),
        (
            "attwithquotedsemicolon",
            "attachment; filename=\"Here's a semicolon;.html\"",
            Some("Here's a semicolon;.html"),
        ),
        ("attwithfilenameandextparam", "attachment; foo=\"bar\"; filename=\"foo.html\"", Some("foo.html")),
        (
            "attwithfilenameandextparamescaped",
            "attachment; foo=\"\\\"\\\\\";filename=\"foo.html\"",
            Some("foo.html"),
        ),
        ("attwithasciifilenameucase", "attachment; FILENAME=\"foo.html\"", Some("foo.html")),
        ("attwithasciifilenamenq", "attachment; filename=foo.html", Some("foo.html")),
        ("attwithtokfncommanq", "attachment; filename=foo,bar.html", None),
        ("attwithasciifilenamenqws", "attachment; filename=foo bar.html", None),
        ("attwithfntokensq", "attachment; filename='foo.bar'", Some("'foo.bar'")),
        ("attwithutf8fnplain", "attachment; filename=\"foo-\u{e4}.html\"", Some("foo-\u{e4}.html")),
        ("attwithfnrawpctenca", "attachment; filename=\"foo-%41.html\"", Some("foo-%41.html")),
        ("attwithfnusingpct", "attachment; filename=\"50%.html\"", Some("50%.html")),
        ("attwithfnrawpctencaq", "attachment; filename=\"foo-%\\41.html\"", Some("foo-%41.html")),
        ("attwithnamepct", "attachment; name=\"foo-%41.html\"", None),
        ("attwithasciifilenamews1", "attachment; filename =\"foo.html\"", Some("foo.html")),
        ("attfnbrokentoken", "attachment; filename=foo[1](2).html", None),
        ("attmissingdisposition", "filename=foo.html", None),
        ("attmissingdisposition2", "x=y; filename=foo.html", None),
        ("attmissingdisposition3", "\"foo; filename=bar;baz\"; filename=qux", None),
        ("emptydisposition", "; filename=foo.html", None),
        ("doublecolon", ": inline; attachment; filename=foo.html", None),
        ("attandinline", "inline; attachment; filename=foo.html", None),
        ("attandinline2", "attachment; inline; filename=foo.html", None),
        ("attbrokenquotedfn", "attachment; filename=\"foo.html\".txt", None),
        ("attbrokenquotedfn2", "attachment; filename=\"bar", None),
        ("attbrokenquotedfn3", "attachment; filename=foo\"bar;baz\"qux", None),
        ("attmultinstances", "attachment; filename=foo.html, attachment; filename=bar.html", None),
        ("attmissingdelim", "attachment; foo=foo filename=bar", None),
        ("attmissingdelim2", "attachment; filename=bar foo=foo ", None),
        ("attmissingdelim3", "attachment filename=bar", None),
        ("attreversed", "filename=foo.html; attachment", None),
        ("attconfusedparam", "attachment; xfilename=foo.html", None),
        ("attabspath", "attachment; filename=\"/foo.html\"", Some("/foo.html")),
        ("attabspathwin", "attachment; filename=\"\\\\foo.html\"", Some("\\foo.html")),
        ("attcdate", "attachment; creation-date=\"Wed, 12 Feb 1997 16:29:51 -0500\"", None),
        ("dispext", "foobar", None),
        ("dispextbadfn", "attachment; example=\"filename=example.txt\"", None),
        ("attwithisofn2231iso", "attachment; filename*=iso-8859-1''foo-%E4.html", Some("foo-\u{e4}.html")),
        (
            "attwithfn2231utf8",
            "attachment; filename*=UTF-8''foo-%c3%a4-%e2%82%ac.html",
            Some("foo-\u{e4}-\u{20ac}.html"),
        ),
        ("attwithfn2231noc", "attachment; filename*=''foo-%c3%a4-%e2%82%ac.html", None),
        ("attwithfn2231utf8comp", "attachment; filename*=UTF-8''foo-a%cc%88.html", Some("foo-a\u{308}.html")),
        ("attwithfn2231utf8-bad", "attachment; filename*=iso-8859-1''foo-%c3%a4-%e2%82%ac.html", None),
        ("attwithfn2231iso-bad", "attachment; filename*=utf-8''foo-%E4.html", None),
        ("attwithfn2231ws1", "attachment; filename *=UTF-8''foo-%c3%a4.html", None),
        ("attwithfn2231ws2", "attachment; filename*= UTF-8''foo-%c3%a4.html", Some("foo-\u{e4}.html")),
        ("attwithfn2231ws3", "attachment; filename* =UTF-8''foo-%c3%a4.html", Some("foo-\u{e4}.html")),
        ("attwithfn2231quot2", "attachment; filename*=\"foo%20bar.html\"", None),
        ("attwithfn2231singleqmissing", "attachment; filename*=UTF-8'foo-%c3%a4.html", None),
        ("attwithfn2231nbadpct1", "attachment; filename*=UTF-8''foo%", None),
        ("attwithfn2231nbadpct2", "attachment; filename*=UTF-8''f%oo.html", None),
        ("attwithfn2231dpct", "attachment; filename*=UTF-8''A-%2541.html", Some("A-%41.html")),
        ("attwithfn2231abspathdisguised", "attachment; filename*=UTF-8''%5cfoo.html", Some("\\foo.html")),
        ("attfncont", "attachment; filename*0=\"foo.\"; filename*1=\"html\"", None),
        (
            "attfnboth",
            "attachment; filename=\"foo-ae.html\"; filename*=UTF-8''foo-%c3%a4.html",
            Some("foo-\u{e4}.html"),
        ),
        (
            "attfnboth2",
            "attachment; filename*=UTF-8''foo-%c3%a4.html; filename=\"foo-ae.html\"",
            Some("foo-\u{e4}.html"),
        ),
        (
            "attfnboth3",
            "attachment; filename*0*=ISO-8859-15''euro-sign%3d%a4; filename*=ISO-8859-1''currency-sign%3d%a4",
            Some("currency-sign=\u{a4}"),
        ),
        ("attnewandfn", "attachment; foobar=x; filename=\"foo.html\"", Some("foo.html")),
        ("attrfc2047token", "attachment; filename==?ISO-8859-1?Q?foo-=E4.html?=", None),
        (
            "attrfc2047quoted",
            "attachment; filename=\"=?ISO-8859-1?Q?foo-=E4.html?=\"",
            Some("=?ISO-8859-1?Q?foo-=E4.html?="),
        ),
    ];

    /// Where the grammar is violated in ways that servers are known for, or a parameter is unusable.
    #[test]
    fn fields_of_real_servers() {
        for (value, name) in [
            ("attachment; filename=foo.html ;", Some("foo.html")),
            ("attachment; ;filename=foo", Some("foo")),
            ("attachment; filename=a; filename=b", Some("a")),
            ("attachment; filename*=\"UTF-8''foo-%c3%a4.html\"", Some("foo-\u{e4}.html")),
            ("attachment; filename*=UTF-8'en-GB'%C2%A3.txt", Some("\u{a3}.txt")),
            ("attachment; filename*=utf-16''%00x; filename=y", Some("y")),
            ("attachment; filename*=UTF-8''%ff; filename=y", Some("y")),
            ("attachment; filename*=UTF-8''bad%ff; filename*=UTF-8''good", Some("good")),
            ("attachment; filename*=\"UTF-8''\u{e4}\"; filename=y", Some("y")),
            ("attachment; filename*=UTF-8''a'b", Some("a'b")),
            ("attachment; filename=\"\"", Some("")),
            ("attachment; filename=", None),
            ("attachment; filename=\"x\\", None),
            ("attachment;", None),
            ("", None),
        ] {
            assert_eq!(named(value).as_deref(), name, "{value}");
        }
        let long = format!("attachment; x=\"{}\"; filename=y", "x".repeat(LONGEST_FIELD));
        assert_eq!(named(&long), None);
    }
}
