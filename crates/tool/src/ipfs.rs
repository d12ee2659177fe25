//! ipfs:// and ipns:// URLs: rewritten to an HTTP gateway.

use crate::bytes::Bytes;
use crate::raw::{Code, Url, UrlPart, url_flag};
use crate::system;

/// Why a URL can't be rewritten; the words are curl's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoGateway {
    /// The URL itself, or the one in the environment, is invalid.
    BadUrl,
    /// The URL of `--ipfs-gateway` is invalid.
    BadGiven,
    /// None is named anywhere.
    Unknown,
}

impl NoGateway {
    pub fn text(self) -> &'static str {
        match self {
            NoGateway::BadUrl => "malformed target URL",
            NoGateway::BadGiven => "--ipfs-gateway was given a malformed URL",
            NoGateway::Unknown => "IPFS automatic gateway detection failed",
        }
    }

    pub fn exit_code(self) -> i32 {
        let code = match self {
            NoGateway::BadUrl => Code::UrlMalformat,
            NoGateway::BadGiven => Code::BadFunctionArgument,
            NoGateway::Unknown => Code::FileCouldntReadFile,
        };
        code.id()
    }
}

/// Returns the URL at the gateway, or the error.
pub fn rewrite(url: &[u8], scheme: &str, given: Option<&[u8]>) -> Result<Bytes, NoGateway> {
    let url = Url::parse(url, url_flag::NON_SUPPORT_SCHEME).map_err(|_| NoGateway::BadUrl)?;
    let gateway = match given {
        Some(text) => Url::parse(text, url_flag::GUESS_SCHEME).map_err(|_| NoGateway::BadGiven),
        None => {
            let text = default_gateway().ok_or(NoGateway::Unknown)?;
            Url::parse(&text, 0).map_err(|_| NoGateway::BadUrl)
        }
    };
    let mut gateway = gateway?;
    if gateway.query().is_some() {
        return Err(NoGateway::BadUrl);
    }
    let base = gateway.path().to_vec();
    let slash: &[u8] = if base.ends_with(b"/") { b"" } else { b"/" };
    let path = url.path();
    let path: &[u8] = if path == b"/" { b"" } else { path };
    let host = url.host().unwrap_or_default();
    let full = [base.as_slice(), slash, scheme.as_bytes(), b"/", host, path].concat();
    let set = gateway
        .set(UrlPart::Path, Some(&full), 0)
        .and_then(|()| gateway.set(UrlPart::Query, url.query(), 0))
        .and_then(|()| gateway.get(UrlPart::Url, 0));
    set.map_err(|_| NoGateway::BadUrl)
}

/// IPFS_GATEWAY, or the first line of the file that the IPFS daemon writes.
fn default_gateway() -> Option<Bytes> {
    if let Ok(gateway) = std::env::var("IPFS_GATEWAY")
        && !gateway.is_empty()
    {
        return Some(gateway.into_bytes());
    }
    let folder = match std::env::var("IPFS_PATH") {
        Ok(path) if !path.is_empty() => path,
        _ => {
            let home = system::HOMES.iter().find_map(|name| std::env::var(name).ok())?;
            format!("{home}/.ipfs")
        }
    };
    let content = std::fs::read_to_string(format!("{}/gateway", folder.trim_end_matches('/'))).ok()?;
    let line = content.lines().next()?.trim();
    (!line.is_empty()).then(|| line.as_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(url: &str, gateway: &str) -> String {
        let out = rewrite(url.as_bytes(), url.split(':').next().unwrap(), Some(gateway.as_bytes()));
        out.map_or_else(|why| why.text().to_owned(), |url| String::from_utf8(url).unwrap())
    }

    #[test]
    fn urls_move_to_the_gateway() {
        assert_eq!(rewritten("ipfs://Qm1/a?b=c", "http://gw:8080"), "http://gw:8080/ipfs/Qm1/a?b=c");
        assert_eq!(rewritten("ipns://name", "http://gw/x/"), "http://gw/x/ipns/name");
        assert_eq!(rewritten("ipfs://Qm1", "http://gw/?q"), "malformed target URL");
        assert_eq!(rewritten("ipfs://Qm1", "http://no,gw"), "--ipfs-gateway was given a malformed URL");
        assert_eq!((NoGateway::BadGiven.exit_code(), NoGateway::Unknown.exit_code()), (43, 37));
    }
}
