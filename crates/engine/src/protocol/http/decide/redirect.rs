//! Redirects (RFC 9110 §15.4): whether one is followed, where it leads, and which method the next request
//! has.

use tables::constant::{CURL_REDIR_POST_301, CURL_REDIR_POST_302, CURL_REDIR_POST_303};
use wire::url::{Part, Url, UrlError, flag};

use crate::settings::Method;

/// Values of CURLOPT_FOLLOWLOCATION: the status code decides about a custom method, or only the first request
/// uses it.
pub const OBEY_CODE: i64 = 2;
/// See [`OBEY_CODE`].
pub const FIRST_ONLY: i64 = 3;

/// Returns whether the Location of a reply is followed. `follow` is CURLOPT_FOLLOWLOCATION.
pub fn is_followed(status: u16, follow: i64) -> bool {
    (300..400).contains(&status) && follow != 0
}

/// Returns whether CURLOPT_MAXREDIRS is reached after `count` redirects; a negative limit is none.
pub fn is_exhausted(limit: i64, count: i64) -> bool {
    limit >= 0 && count >= limit
}

/// Resolves a Location against the current URL (RFC 3986 §5). Adds `extra` to the URL parser's flags.
pub fn target(base: &Url, location: &[u8], path_as_is: bool, extra: u32) -> Result<Url, UrlError> {
    let as_is = if path_as_is { flag::PATH_AS_IS } else { 0 };
    let mut url = base.clone();
    // A Location without a fragment does not inherit the old URL's: curl keeps the new URL as the server sent
    // it.
    url.set(Part::Url, Some(location), flag::URLENCODE | flag::ALLOW_SPACE | as_is | extra)?;
    Ok(url)
}

/// A request that is redirected.
#[derive(Clone, Copy, Debug)]
pub struct Redirected {
    /// Status of the reply.
    pub status: u16,
    /// Method of the request, as the settings know it.
    pub method: Method,
    /// CURLOPT_FOLLOWLOCATION.
    pub follow: i64,
    /// CURLOPT_POSTREDIR.
    pub kept: i64,
    /// CURLOPT_CUSTOMREQUEST names the method.
    pub custom: bool,
    /// CURLOPT_NOBODY.
    pub no_body: bool,
}

/// The method of the request that follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The new method, if it is another one.
    pub method: Option<Method>,
    /// CURLOPT_CUSTOMREQUEST counts no more.
    pub drops_custom: bool,
}

/// Decides the method of the next request: some codes turn a POST into a GET unless CURLOPT_POSTREDIR keeps
/// it.
pub fn method_after(f: &Redirected) -> Change {
    let posting = matches!(f.method, Method::Post | Method::PostMime);
    let keeps = |bit: i64| f.kept & bit != 0;
    let to_get = match f.status {
        301 => posting && !keeps(CURL_REDIR_POST_301),
        302 => posting && !keeps(CURL_REDIR_POST_302),
        303 => {
            let safe = matches!(f.method, Method::Get | Method::Head);
            !(safe || posting && keeps(CURL_REDIR_POST_303)) || f.custom && f.follow == OBEY_CODE
        }
        _ => false,
    };
    let get = if f.no_body { Method::Head } else { Method::Get };
    Change {
        method: to_get.then_some(get),
        drops_custom: f.follow == FIRST_ONLY || to_get && f.follow == OBEY_CODE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transfer::route::url::{url_text, without_credentials};
    use Method::{Get, Head, Post, PostMime, Put};

    #[test]
    fn followed() {
        let rows = [
            ("RFC 9110 §15.4: 3xx with a Location", 301, 1, true),
            ("RFC 9110 §15.4: the first of them", 300, 1, true),
            ("RFC 9110 §15.4: an unknown one", 399, 1, true),
            ("RFC 9110 §15.3.2: the Location of a 201 names what was made", 201, 1, false),
            ("RFC 9110 §15.5: an error leads nowhere", 400, 1, false),
            ("CURLOPT_FOLLOWLOCATION(3): off", 302, 0, false),
            ("CURLOPT_FOLLOWLOCATION(3): CURLFOLLOW_OBEYCODE", 302, OBEY_CODE, true),
            ("CURLOPT_FOLLOWLOCATION(3): CURLFOLLOW_FIRSTONLY", 302, FIRST_ONLY, true),
        ];
        for (name, status, follow, wanted) in rows {
            assert_eq!(is_followed(status, follow), wanted, "{name}");
        }
    }

    #[test]
    fn limits() {
        let rows = [
            ("CURLOPT_MAXREDIRS(3): 0 follows none", 0, 0, true),
            ("CURLOPT_MAXREDIRS(3): the last one of three", 3, 2, false),
            ("CURLOPT_MAXREDIRS(3): one too many", 3, 3, true),
            ("CURLOPT_MAXREDIRS(3): the default is 30", 30, 29, false),
            ("CURLOPT_MAXREDIRS(3): -1 is without limit", -1, 1_000_000, false),
        ];
        for (name, limit, count, wanted) in rows {
            assert_eq!(is_exhausted(limit, count), wanted, "{name}");
        }
    }

    fn resolve(base: &str, location: &str, path_as_is: bool) -> Result<String, UrlError> {
        let base = Url::parse(base.as_bytes(), 0).unwrap();
        let url = target(&base, location.as_bytes(), path_as_is, 0)?;
        Ok(String::from_utf8(url_text(&url)).unwrap())
    }

    #[test]
    fn targets() {
        const BASE: &str = "http://a.example/b/c/d?q#f";
        let rows = [
            ("RFC 3986 §5.4.1: an absolute URL", "https://x.example/y", "https://x.example/y"),
            ("RFC 3986 §5.4.1: a path from the root", "/g", "http://a.example/g"),
            ("RFC 3986 §5.4.1: a path beside", "g", "http://a.example/b/c/g"),
            ("RFC 3986 §5.4.1: one folder up", "../g", "http://a.example/b/g"),
            ("RFC 3986 §5.4.2: more dots than folders", "../../../g", "http://a.example/g"),
            ("RFC 3986 §5.4.1: this folder", "./g/", "http://a.example/b/c/g/"),
            ("RFC 3986 §5.4.1: another query", "?y", "http://a.example/b/c/d?y"),
            ("RFC 3986 §5.4.1: a path with a query", "g?y", "http://a.example/b/c/g?y"),
            ("RFC 3986 §5.4.1: another host, same scheme", "//g.example/h", "http://g.example/h"),
            ("RFC 9110 §10.2.2: a fragment of its own", "g#s", "http://a.example/b/c/g#s"),
            ("CURLOPT_FOLLOWLOCATION(3): blanks are encoded", "/a b", "http://a.example/a%20b"),
            ("CURLOPT_FOLLOWLOCATION(3): octets above ASCII, too", "/\u{e9}", "http://a.example/%C3%A9"),
            ("RFC 3986 §3.2.1: credentials in a Location", "http://u:p@x.example/", "http://u:p@x.example/"),
            ("RFC 3986 §3.2.3: another port", "http://a.example:81/", "http://a.example:81/"),
        ];
        for (name, location, wanted) in rows {
            assert_eq!(resolve(BASE, location, false).as_deref(), Ok(wanted), "{name}");
        }
        let as_is = resolve(BASE, "http://a.example/x/../g", true);
        assert_eq!(as_is.as_deref(), Ok("http://a.example/x/../g"), "CURLOPT_PATH_AS_IS(3): an absolute URL");
        let merged = resolve(BASE, "/x/../g", true);
        assert_eq!(merged.as_deref(), Ok("http://a.example/g"), "RFC 3986 §5.2.2: resolving removes dots");
        let unknown = resolve(BASE, "gopherx://h/", false);
        assert_eq!(
            unknown,
            Err(UrlError::UnsupportedScheme),
            "CURLE_UNSUPPORTED_PROTOCOL (libcurl-errors(3))"
        );
        assert!(resolve(BASE, "http://a.example:99999/", false).is_err(), "RFC 3986 §3.2.3: no such port");
    }

    /// A POST that follows as CURLOPT_FOLLOWLOCATION 1 does.
    const POST: Redirected =
        Redirected { status: 301, method: Post, follow: 1, kept: 0, custom: false, no_body: false };

    #[test]
    fn methods() {
        let to = |method| Change { method: Some(method), drops_custom: false };
        let keeps = Change::default();
        let (dropped, to_get_dropped) =
            (Change { method: None, drops_custom: true }, Change { method: Some(Get), drops_custom: true });
        let with = |status, method| Redirected { status, method, ..POST };
        let kept = |status, kept| Redirected { status, kept, ..POST };
        let custom = |status, method, follow| Redirected { custom: true, follow, ..with(status, method) };
        let rows = [
            ("RFC 9110 §15.4.2: a POST may become a GET", with(301, Post), to(Get)),
            ("RFC 9110 §15.4.3: a POST may become a GET", with(302, Post), to(Get)),
            ("RFC 9110 §15.4.4: See Other is fetched", with(303, Post), to(Get)),
            ("RFC 9110 §15.4.8: 307 keeps the method", with(307, Post), keeps),
            ("RFC 9110 §15.4.9: 308 keeps the method", with(308, Post), keeps),
            ("RFC 9110 §15.4.1: 300 keeps the method", with(300, Post), keeps),
            ("RFC 9110 §15.4.2: so does a form", with(301, PostMime), to(Get)),
            ("RFC 9110 §15.4.2: a PUT stays one", with(301, Put), keeps),
            ("RFC 9110 §15.4.3: a PUT stays one", with(302, Put), keeps),
            ("RFC 9110 §15.4.4: a PUT's outcome is fetched", with(303, Put), to(Get)),
            ("RFC 9110 §15.4.4: a GET stays one", with(303, Get), keeps),
            ("RFC 9110 §15.4.4: a HEAD stays one", with(303, Head), keeps),
            ("RFC 9110 §15.4.2: a GET stays one", with(301, Get), keeps),
            ("CURLOPT_POSTREDIR(3): CURL_REDIR_POST_301", kept(301, 1), keeps),
            ("CURLOPT_POSTREDIR(3): CURL_REDIR_POST_302", kept(302, 2), keeps),
            ("CURLOPT_POSTREDIR(3): CURL_REDIR_POST_303", kept(303, 4), keeps),
            ("CURLOPT_POSTREDIR(3): each bit is for its code, 301", kept(301, 6), to(Get)),
            ("CURLOPT_POSTREDIR(3): each bit is for its code, 302", kept(302, 5), to(Get)),
            ("CURLOPT_POSTREDIR(3): each bit is for its code, 303", kept(303, 3), to(Get)),
            ("CURLOPT_POSTREDIR(3): a PUT is no POST", Redirected { kept: 7, ..with(303, Put) }, to(Get)),
            ("CURLOPT_NOBODY(3): the GET is a HEAD", Redirected { no_body: true, ..POST }, to(Head)),
            ("CURLOPT_CUSTOMREQUEST(3): stays for all requests", custom(303, Get, 1), keeps),
            ("CURLOPT_CUSTOMREQUEST(3): stays, whatever the method becomes", custom(301, Post, 1), to(Get)),
            (
                "CURLFOLLOW_OBEYCODE: a custom GET becomes a plain one",
                custom(303, Get, OBEY_CODE),
                to_get_dropped,
            ),
            ("CURLFOLLOW_OBEYCODE: a custom POST, too", custom(301, Post, OBEY_CODE), to_get_dropped),
            ("CURLFOLLOW_OBEYCODE: 307 keeps the custom method", custom(307, Post, OBEY_CODE), keeps),
            ("CURLFOLLOW_OBEYCODE: 302 keeps a custom PUT", custom(302, Put, OBEY_CODE), keeps),
            ("CURLFOLLOW_FIRSTONLY: the custom method is dropped", custom(307, Post, FIRST_ONLY), dropped),
            (
                "CURLFOLLOW_FIRSTONLY: 301 turns a POST into a GET",
                custom(301, Post, FIRST_ONLY),
                to_get_dropped,
            ),
        ];
        for (name, facts, wanted) in rows {
            assert_eq!(method_after(&facts), wanted, "{name}");
        }
    }

    /// CURLOPT_AUTOREFERER: the field names the page without private parts of its URL.
    #[test]
    fn referers() {
        let rows = [
            ("RFC 9110 §10.1.3: no fragment", "http://a.example/x#secret", "http://a.example/x"),
            ("RFC 9110 §10.1.3: no credentials", "http://u:p@a.example/x", "http://a.example/x"),
            ("CURLOPT_AUTOREFERER(3): the query stays", "https://a.example/x?q=1", "https://a.example/x?q=1"),
            (
                "CURLOPT_AUTOREFERER(3): a user alone goes, too",
                "http://u@a.example:81/",
                "http://a.example:81/",
            ),
        ];
        for (name, url, wanted) in rows {
            let url = Url::parse(url.as_bytes(), 0).unwrap();
            assert_eq!(String::from_utf8(without_credentials(&url)).unwrap(), wanted, "{name}");
        }
    }
}
