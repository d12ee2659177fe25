//! Flags about connections, proxies, limits and retries.

use super::not_blank;
use crate::message::shown;
use crate::numbers::{self, BadSize};
use crate::options::ToolOption;
use crate::parse::{Done, Parser, Wrong};
use crate::proxy_command;
use crate::raw::{EasyOption as O, Priority, proxy_source};
use crate::request::{Clobber, Resume};
use crate::system;

/// Most transfers at the same time, and most connections to a host.
const MOST_PARALLEL: i64 = 65_535;
const PARALLEL: i64 = 50;

pub fn abstract_socket(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    parser.request().options.clear(O::UnixSocketPath);
    parser.request().options.set_text(O::AbstractUnixSocket, not_blank(text)?);
    Ok(())
}

pub fn unix_socket(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    parser.request().options.clear(O::AbstractUnixSocket);
    parser.request().options.set_text(O::UnixSocketPath, not_blank(text)?);
    Ok(())
}

pub fn continue_at(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let request = parser.request();
    let clash = if request.options.text(O::Range).is_some() {
        "--continue-at is mutually exclusive with --range"
    } else if request.remove_on_error {
        "--continue-at is mutually exclusive with --remove-on-error"
    } else if request.clobber == Clobber::Never {
        "--continue-at is mutually exclusive with --no-clobber"
    } else {
        request.resume = Some(match text {
            b"-" => Resume::Current,
            _ => match numbers::leading(text, i64::MAX) {
                Some((offset, b"")) => Resume::At(offset as u64),
                _ => return Err(Wrong::NotNumeric.into()),
            },
        });
        return Ok(());
    };
    parser.messages.error(clash);
    Err(Wrong::BadUse.into())
}

/// Names of the DiffServ code points and old TOS values (RFC 2474, 2597, 3246, 8622, 3168).
const TOS: &[(&str, i64)] = &[
    ("AF11", 0x28),
    ("AF12", 0x30),
    ("AF13", 0x38),
    ("AF21", 0x48),
    ("AF22", 0x50),
    ("AF23", 0x58),
    ("AF31", 0x68),
    ("AF32", 0x70),
    ("AF33", 0x78),
    ("AF41", 0x88),
    ("AF42", 0x90),
    ("AF43", 0x98),
    ("CE", 0x03),
    ("CS0", 0x00),
    ("CS1", 0x20),
    ("CS2", 0x40),
    ("CS3", 0x60),
    ("CS4", 0x80),
    ("CS5", 0xa0),
    ("CS6", 0xc0),
    ("CS7", 0xe0),
    ("ECT0", 0x02),
    ("ECT1", 0x01),
    ("EF", 0xb8),
    ("LE", 0x04),
    ("LOWCOST", 0x02),
    ("LOWDELAY", 0x10),
    ("MINCOST", 0x02),
    ("RELIABILITY", 0x04),
    ("THROUGHPUT", 0x08),
    ("VOICE-ADMIT", 0xb0),
];

pub fn ip_tos(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let named = TOS.iter().find(|(name, _)| name.as_bytes() == text).map(|(_, value)| *value);
    let value = match named {
        Some(value) => value,
        None => numbers::unsigned_up_to(text, 0xff)?,
    };
    parser.request().options.set_long(ToolOption::IpTos, value);
    Ok(())
}

pub fn vlan_priority(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let value = numbers::unsigned_up_to(text, 7)?;
    parser.request().options.set_long(ToolOption::VlanPriority, value);
    Ok(())
}

pub fn priority(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let is_valid = str::from_utf8(text).is_ok_and(|text| text.parse::<Priority>().is_ok());
    if !is_valid {
        return Err(Wrong::Allowed("takes u=0 to u=7, i, or both, as in u=1,i").into());
    }
    parser.request().options.set_text(ToolOption::Priority, text);
    Ok(())
}

pub fn limit_rate(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let value = size(parser, text, "rate")?;
    parser.request().options.set_long(O::MaxSendSpeedLarge, value);
    parser.request().options.set_long(O::MaxRecvSpeedLarge, value);
    Ok(())
}

pub fn max_filesize(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let value = size(parser, text, "max-filesize")?;
    parser.request().options.set_long(O::MaxFileSizeLarge, value);
    Ok(())
}

pub fn size(parser: &mut Parser, text: &[u8], what: &str) -> Result<i64, Wrong> {
    numbers::size(text).map_err(|bad| match bad {
        BadSize::TooLarge => Wrong::TooLarge,
        BadSize::Number => Wrong::NotNumeric,
        BadSize::Unit => {
            parser.messages.warn(&format!("unsupported {what} unit. Use G, M, K, T, P or B"));
            Wrong::BadUse
        }
    })
}

/// A port, or two with a dash between and blanks around it if need be.
pub fn local_port(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let (from, rest) = numbers::leading(text, 65_535).ok_or(Wrong::BadUse)?;
    let to = if rest.is_empty() {
        from
    } else {
        let rest = rest.strip_prefix(b" ").unwrap_or(rest);
        let rest = rest.strip_prefix(b"-").ok_or(Wrong::BadUse)?;
        let rest = rest.strip_prefix(b" ").unwrap_or(rest);
        numbers::unsigned_up_to(rest, 65_535).map_err(|_| Wrong::BadUse)?
    };
    if to < from {
        return Err(Wrong::BadUse.into());
    }
    parser.request().options.set_long(O::LocalPort, from);
    parser.request().options.set_long(O::LocalPortRange, to - from + 1);
    Ok(())
}

pub fn parallel_max(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let value = numbers::unsigned(text)?;
    parser.globals.parallel_max = if value < 1 { PARALLEL } else { value.min(MOST_PARALLEL) } as usize;
    Ok(())
}

pub fn parallel_max_host(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    parser.globals.parallel_max_host = numbers::unsigned(text)?.min(MOST_PARALLEL) as usize;
    Ok(())
}

/// `--rate N/U`: the least time between two starts.
pub fn rate(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let slash = text.iter().position(|byte| *byte == b'/');
    let (number, unit) = text.split_at(slash.unwrap_or(text.len()));
    let starts = numbers::unsigned(number)?;
    if starts < 1 {
        return Err(Wrong::BadUse.into());
    }
    let unit = unit.strip_prefix(b"/").unwrap_or(b"h");
    let (count, unit) = numbers::leading(unit, i64::MAX).unwrap_or((1, unit));
    let millis = match unit.first() {
        Some(b's') => 1000,
        Some(b'm') => 60_000,
        Some(b'h') => 3_600_000,
        Some(b'd') => 86_400_000,
        _ => {
            parser.messages.error("unsupported --rate unit");
            return Err(Wrong::BadUse.into());
        }
    };
    let Some(span) = count.checked_mul(millis) else {
        parser.messages.error("too large --rate unit");
        return Err(Wrong::TooLarge.into());
    };
    if starts > span {
        return Err(Wrong::TooLarge.into());
    }
    parser.globals.rate_ms = (span / starts) as u64;
    Ok(())
}

pub fn retry(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    parser.request().retries = numbers::unsigned(text)?;
    Ok(())
}

pub fn retry_delay(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    parser.request().retry_delay_ms = numbers::millis(text)?;
    Ok(())
}

pub fn retry_max_time(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    parser.request().retry_max_ms = numbers::millis(text)?;
    Ok(())
}

pub fn deadline(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    parser.request().deadline_ms = numbers::millis(text)?;
    Ok(())
}

pub fn speed_limit(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let value = numbers::unsigned(text)?;
    let options = &mut parser.request().options;
    options.set_long(O::LowSpeedLimit, value);
    if !options.is_on(O::LowSpeedTime) {
        options.set_long(O::LowSpeedTime, 30);
    }
    Ok(())
}

pub fn speed_time(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let value = numbers::unsigned(text)?;
    let options = &mut parser.request().options;
    options.set_long(O::LowSpeedTime, value);
    if !options.is_on(O::LowSpeedLimit) {
        options.set_long(O::LowSpeedLimit, 1);
    }
    Ok(())
}

/// CURLPROXY_ numbers.
const HTTP: i64 = 0;
const HTTP_1_0: i64 = 1;
const HTTPS: i64 = 2;
const HTTPS2: i64 = 3;
const HTTPS3: i64 = 8;
const SOCKS4: i64 = 4;
const SOCKS5: i64 = 5;
const SOCKS4A: i64 = 6;
const SOCKS5_HOSTNAME: i64 = 7;

pub fn proxy(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let options = &mut parser.request().options;
    options.clear(ToolOption::ProxyCommand);
    options.set_text(O::Proxy, if text == b"auto" { proxy_source::SYSTEM.as_bytes() } else { text });
    if !matches!(options.long(O::ProxyType), Some(HTTPS2 | HTTPS3)) {
        options.set_long(O::ProxyType, HTTP);
    }
    Ok(())
}

pub fn pac(parser: &mut Parser, name: &str, text: &[u8]) -> Done {
    let text = not_blank(text)?;
    let is_url = text.windows(3).any(|three| three == b"://");
    let url = if is_url { text.to_vec() } else { file_url(text) };
    proxy(parser, name, &[proxy_source::PAC_PREFIX.as_bytes(), &url].concat())
}

/// Returns the URL of a file, which may be named relative to the current folder.
fn file_url(name: &[u8]) -> Vec<u8> {
    let name = system::path(name);
    let path = std::path::absolute(name).unwrap_or_else(|_| name.to_owned());
    let encoded = |byte: &u8| match byte {
        b'%' => b"%25".to_vec(),
        b'\\' if cfg!(windows) => b"/".to_vec(),
        byte => vec![*byte],
    };
    let path: Vec<u8> = path.as_os_str().as_encoded_bytes().iter().flat_map(encoded).collect();
    let root: &[u8] = if path.starts_with(b"/") { b"" } else { b"/" };
    [b"file://", root, &path].concat()
}

fn typed_proxy(parser: &mut Parser, text: &[u8], kind: i64) -> Done {
    let text = not_blank(text)?;
    parser.request().options.clear(ToolOption::ProxyCommand);
    parser.request().options.set_text(O::Proxy, text);
    parser.request().options.set_long(O::ProxyType, kind);
    Ok(())
}

pub fn proxy_command(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    if !cfg!(unix) {
        return Err(Wrong::Allowed("is not supported on this system").into());
    }
    proxy_command::check(not_blank(text)?)?;
    parser.request().options.clear(O::Proxy);
    parser.request().options.set_text(ToolOption::ProxyCommand, text);
    Ok(())
}

pub fn proxy10(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    typed_proxy(parser, text, HTTP_1_0)
}

pub fn socks4(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    typed_proxy(parser, text, SOCKS4)
}

pub fn socks4a(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    typed_proxy(parser, text, SOCKS4A)
}

pub fn socks5(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    typed_proxy(parser, text, SOCKS5)
}

pub fn socks5h(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    typed_proxy(parser, text, SOCKS5_HOSTNAME)
}

pub fn proxy_http2(parser: &mut Parser, _: &str, on: bool) -> Done {
    if !parser.world.has("HTTP2") || !parser.world.has("HTTPS-proxy") {
        return Err(Wrong::NotSupported.into());
    }
    parser.request().options.set_long(O::ProxyType, if on { HTTPS2 } else { HTTPS });
    Ok(())
}

pub fn proxy_http3(parser: &mut Parser, _: &str, on: bool) -> Done {
    if !parser.world.has("HTTP3") || !parser.world.has("HTTPS-proxy") || !parser.world.has("proxy-HTTP3") {
        return Err(Wrong::NotSupported.into());
    }
    parser.request().options.set_long(O::ProxyType, if on { HTTPS3 } else { HTTPS });
    Ok(())
}

pub fn proto(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let all: Vec<&str> = parser.world.schemes().to_vec();
    let list = schemes(parser, text, &all)?;
    parser.request().options.set_text(O::ProtocolsStr, list.as_bytes());
    Ok(())
}

pub fn proto_redir(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let list = schemes(parser, text, &["http", "https", "ftp", "ftps"])?;
    parser.request().options.set_text(O::RedirProtocolsStr, list.as_bytes());
    Ok(())
}

/// Applies `+a,-b,=c,all` to a set of schemes; the result is in alphabetic order.
fn schemes(parser: &mut Parser, text: &[u8], start: &[&str]) -> Result<String, Wrong> {
    let all: Vec<&'static str> = parser.world.schemes().to_vec();
    let mut set: Vec<&str> = all.iter().copied().filter(|name| start.contains(name)).collect();
    for word in text.split(|byte| *byte == b',').filter(|word| !word.is_empty()) {
        let (action, name) = match word[0] {
            b'=' | b'-' | b'+' => (word[0], &word[1..]),
            _ => (b'+', word),
        };
        let name = shown(name).to_ascii_lowercase();
        let named: Vec<&str> = all.iter().copied().filter(|known| name == "all" || *known == name).collect();
        if action == b'=' {
            set.clear();
        }
        if named.is_empty() && name != "all" {
            parser.messages.error(&format!("unrecognized protocol '{}'", shown(word.trim_ascii_start())));
            return Err(Wrong::BadUse);
        }
        set.retain(|known| !named.contains(known));
        if action != b'-' {
            set.extend(named);
        }
    }
    if set.is_empty() {
        return Err(Wrong::BadUse);
    }
    set.sort_unstable();
    Ok(set.join(","))
}

pub fn proto_default(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let name = shown(not_blank(text)?).to_ascii_lowercase();
    if !parser.world.schemes().contains(&name.as_str()) {
        return Err(Wrong::SchemeNotSupported.into());
    }
    parser.request().options.set_text(O::DefaultProtocol, text);
    Ok(())
}
