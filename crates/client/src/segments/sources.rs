//! Further sources of a file, named by a server: Link fields (RFC 6249 and 8288).

/// Maximum number of sources that are used.
pub const MOST: usize = 64;
/// Schemes of URLs that a document or a server may name. Others reach the user's files, keys or agents.
const SCHEMES: [&str; 4] = ["https", "http", "ftps", "ftp"];

/// Returns whether files of a scheme, in lower case, can be fetched in pieces.
pub fn has_pieces(scheme: &str) -> bool {
    matches!(scheme, "http" | "https" | "ftp" | "ftps" | "sftp")
}

/// Returns whether a document may name this URL: one of a few schemes, written out.
pub fn may_be_named(url: &[u8]) -> bool {
    let starts = |scheme: &str| {
        let mark = [scheme.as_bytes(), b"://"].concat();
        url.get(..mark.len()).is_some_and(|start| start.eq_ignore_ascii_case(&mark))
    };
    SCHEMES.iter().any(|scheme| starts(scheme))
}

/// Returns the URLs of a Link field with relation `duplicate`, with their `pri`.
pub fn duplicates(value: &[u8]) -> Vec<(u32, Vec<u8>)> {
    let mut found = Vec::new();
    let mut rest = value;
    while let Some(open) = rest.iter().position(|byte| *byte == b'<') {
        let after = &rest[open + 1..];
        let Some(close) = after.iter().position(|byte| *byte == b'>') else { break };
        let url = after[..close].trim_ascii().to_vec();
        let (parameters, next) = parameters(&after[close + 1..]);
        rest = next;
        let of = |name: &str| {
            let found = parameters.iter().find(|(key, _)| key.eq_ignore_ascii_case(name.as_bytes()));
            found.map(|(_, value)| String::from_utf8_lossy(value).into_owned())
        };
        let relations = of("rel").unwrap_or_default();
        if relations.split(' ').any(|relation| relation.eq_ignore_ascii_case("duplicate")) && !url.is_empty()
        {
            found.push((of("pri").and_then(|text| text.parse().ok()).unwrap_or(999_999), url));
        }
    }
    found
}

type Parameters = Vec<(Vec<u8>, Vec<u8>)>;

/// Parses the parameters of a link, `; name=value`, where a value may be quoted; returns the rest.
fn parameters(text: &[u8]) -> (Parameters, &[u8]) {
    let mut all = Vec::new();
    let (mut piece, mut quoted, mut at) = (Vec::new(), false, 0);
    let mut end = |piece: &mut Vec<u8>| {
        let equals = piece.iter().position(|byte| *byte == b'=').unwrap_or(piece.len());
        let (key, value) = piece.split_at(equals);
        all.push((key.trim_ascii().to_vec(), value.get(1..).unwrap_or_default().trim_ascii().to_vec()));
        piece.clear();
    };
    while let Some(&byte) = text.get(at) {
        match byte {
            b'"' => quoted = !quoted,
            b'\\' if quoted => {
                at += 1;
                piece.extend(text.get(at));
            }
            b',' if !quoted => break,
            b';' if !quoted => end(&mut piece),
            _ => piece.push(byte),
        }
        at += 1;
    }
    end(&mut piece);
    (all, &text[at.min(text.len())..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_fields() {
        let of = |text: &str| -> Vec<(u32, String)> {
            let found = duplicates(text.as_bytes()).into_iter();
            found.map(|(pri, url)| (pri, String::from_utf8(url).unwrap())).collect()
        };
        let text = "<http://a/x>; rel=duplicate; pri=2; geo=gb, <http://b/,;x> ; rel=\"other Duplicate\",<c>;rel=next, <d>; rel=\"a, \\\"duplicate\"";
        assert_eq!(of(text), [(2, "http://a/x".into()), (999_999, "http://b/,;x".into())]);
        assert!(of("<").is_empty() && of("").is_empty() && of("<>; rel=duplicate").is_empty());
    }

    #[test]
    fn documents_name_no_local_things() {
        for url in ["http://h/", "HTTPS://h/", "ftp://h/f", "ftps://h/f"] {
            assert!(may_be_named(url.as_bytes()), "{url}");
        }
        for url in ["file:///etc/passwd", "sftp://h/f", "h/f", "http:/h", "dict://h/", "", "ldap://h/", "-"] {
            assert!(!may_be_named(url.as_bytes()), "{url}");
        }
    }
}
