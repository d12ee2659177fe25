//! Flags about HTTP requests: methods, headers, cookies, redirects, versions.

use super::files::header_file;
use super::{choose_method, not_blank};
use crate::message::shown;
use crate::numbers;
use crate::parse::{Done, Parser, Wrong};
use crate::raw::EasyOption as O;
use crate::request::{Fail, Method};
use crate::status::StatusSet;

pub fn head(parser: &mut Parser, _: &str, on: bool) -> Done {
    parser.request().head = on;
    parser.request().show_headers = on;
    Ok(choose_method(parser, if on { Method::Head } else { Method::Get })?)
}

pub fn header(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    add_header(parser, text, O::HttpHeader, "HTTP")
}

pub fn proxy_header(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    add_header(parser, text, O::ProxyHeader, "proxy")
}

fn add_header(parser: &mut Parser, text: &[u8], list: O, kind: &str) -> Done {
    if let Some(file) = text.strip_prefix(b"@") {
        return header_file(parser, file, list);
    }
    if !text.contains(&b':') && !text.contains(&b';') {
        let text = shown(text);
        parser.messages.warn(&format!("The provided {kind} header '{text}' does not look like a header?"));
    }
    parser.request().options.push(list, text);
    Ok(())
}

pub fn cookie(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let request = parser.request();
    let list = if text.contains(&b'=') { &mut request.cookies } else { &mut request.cookie_files };
    list.push(text.to_vec());
    Ok(())
}

pub fn fail(parser: &mut Parser, _: &str, on: bool) -> Done {
    if on && parser.request().fail == Fail::WithBody {
        parser.messages.warn("--fail deselects --fail-with-body here");
    }
    parser.request().fail = if on { Fail::WithoutBody } else { Fail::Never };
    Ok(())
}

pub fn fail_with_body(parser: &mut Parser, _: &str, on: bool) -> Done {
    if on && parser.request().fail == Fail::WithoutBody {
        parser.messages.warn("--fail-with-body deselects --fail here");
    }
    parser.request().fail = if on { Fail::WithBody } else { Fail::Never };
    Ok(())
}

pub fn fail_on(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    parser.request().fail_on = Some(StatusSet::parse(text)?);
    Ok(())
}

/// CURLFOLLOW_ numbers.
const ALL: i64 = 1;
const OBEY_CODE: i64 = 2;

pub fn location(parser: &mut Parser, _: &str, on: bool) -> Done {
    if parser.request().follow == OBEY_CODE {
        parser.messages.warn("--location overrides --follow");
    }
    parser.request().follow = if on { ALL } else { 0 };
    Ok(())
}

pub fn location_trusted(parser: &mut Parser, name: &str, on: bool) -> Done {
    parser.request().options.set_long(O::UnrestrictedAuth, on.into());
    location(parser, name, on)
}

pub fn follow(parser: &mut Parser, _: &str, on: bool) -> Done {
    if parser.request().follow == ALL {
        parser.messages.warn("--follow overrides --location");
    }
    parser.request().follow = if on { OBEY_CODE } else { 0 };
    Ok(())
}

pub fn max_redirs(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let value = numbers::signed(text)?;
    if value < -1 {
        return Err(Wrong::NotNumeric.into());
    }
    parser.request().options.set_long(O::MaxRedirs, value);
    Ok(())
}

/// A trailing `;auto` asks for updates on redirects.
pub fn referer(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let (text, auto) = match text.strip_suffix(b";auto") {
        Some(text) => (text, true),
        None => (text, false),
    };
    let options = &mut parser.request().options;
    options.set_long(O::AutoReferer, auto.into());
    options.clear(O::Referer);
    if !text.is_empty() {
        options.set_text(O::Referer, text);
    }
    Ok(())
}

pub fn request(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let text = not_blank(text)?.to_vec();
    parser.request().options.set_text(O::CustomRequest, &text);
    Ok(())
}

/// CURL_HTTP_VERSION_ numbers.
fn version(parser: &mut Parser, version: i64, feature: Option<&str>) -> Done {
    if feature.is_some_and(|feature| !parser.world.has(feature)) {
        return Err(Wrong::NotSupported.into());
    }
    let before = parser.request().options.long(O::HttpVersion);
    if before.is_some_and(|before| before != version) {
        parser.messages.warn("Overrides previous HTTP version option");
    }
    parser.request().options.set_long(O::HttpVersion, version);
    Ok(())
}

pub fn http10(parser: &mut Parser) -> Done {
    version(parser, 1, None)
}

pub fn http11(parser: &mut Parser) -> Done {
    version(parser, 2, None)
}

pub fn http2(parser: &mut Parser) -> Done {
    version(parser, 3, Some("HTTP2"))
}

pub fn http2_prior(parser: &mut Parser) -> Done {
    version(parser, 5, Some("HTTP2"))
}

pub fn http3(parser: &mut Parser) -> Done {
    version(parser, 30, Some("HTTP3"))
}

pub fn http3_only(parser: &mut Parser) -> Done {
    version(parser, 31, Some("HTTP3"))
}
