//! Flags about logging in and TLS.

use super::{not_blank, read, without_line_ends};
use crate::bytes::Bytes;
use crate::message::shown;
use crate::parse::{Done, Parser, Stop, Wrong};
use crate::raw::EasyOption as O;

/// CURLAUTH_ bits.
const BEARER: i64 = 64;
const AWS_SIGV4: i64 = 128;
const ANY: i64 = !16 & 0xffff_ffff;

pub fn anyauth(parser: &mut Parser) -> Done {
    parser.request().options.set_long(O::HttpAuth, ANY);
    Ok(())
}

pub fn aws_sigv4(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    parser.request().options.bits(O::HttpAuth, AWS_SIGV4, true);
    parser.request().options.set_text(O::AwsSigV4, text);
    Ok(())
}

pub fn oauth2_bearer(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    parser.request().options.bits(O::HttpAuth, BEARER, true);
    parser.request().options.set_text(O::Xoauth2Bearer, not_blank(text)?);
    Ok(())
}

/// CURLHTTPSIG_ numbers.
const ED25519: i64 = 1;

pub fn httpsig_algo(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let algorithm = match text.to_ascii_lowercase().as_slice() {
        b"ed25519" => ED25519,
        b"hmac-sha256" => 2,
        _ => return Err(Wrong::BadUse.into()),
    };
    parser.request().options.set_long(O::HttpSigAlgorithm, algorithm);
    Ok(())
}

/// Sets the key, given in hex or by a file; blanks at the end of a file do not count.
pub fn httpsig_key(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let key = match not_blank(text)?.strip_prefix(b"@") {
        Some(file) => read(parser, file)?.trim_ascii().to_vec(),
        None => text.to_vec(),
    };
    let options = &mut parser.request().options;
    options.set_text(O::HttpSigKey, &key);
    if options.long(O::HttpSigAlgorithm).is_none() {
        options.set_long(O::HttpSigAlgorithm, ED25519);
    }
    Ok(())
}

/// CURLGSSAPI_DELEGATION_ numbers.
pub fn delegation(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let level = match text.to_ascii_lowercase().as_slice() {
        b"none" => 0,
        b"policy" => 1,
        b"always" => 2,
        _ => {
            let text = shown(text);
            parser.messages.warn(&format!("unrecognized delegation method '{text}', using none"));
            0
        }
    };
    parser.request().options.set_long(O::GssapiDelegation, level);
    Ok(())
}

pub fn cert(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    file_and_password(parser, text, O::SslCert, O::KeyPasswd)
}

pub fn proxy_cert(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    file_and_password(parser, text, O::ProxySslCert, O::ProxyKeyPasswd)
}

fn file_and_password(parser: &mut Parser, text: &[u8], file: O, pass: O) -> Done {
    let (name, password) = split_password(text);
    let options = &mut parser.request().options;
    options.set_text(file, &name);
    if let Some(password) = password.filter(|password| !password.is_empty()) {
        options.set_text(pass, &password);
    }
    Ok(())
}

/// Splits `name:password`, with `\:` and `\\` for those characters in the name. A PKCS #11 URI is only a
/// name.
fn split_password(text: &[u8]) -> (Bytes, Option<Bytes>) {
    if text.len() >= 7 && text[..7].eq_ignore_ascii_case(b"pkcs11:") {
        return (text.to_vec(), None);
    }
    let mut name = Bytes::new();
    let mut at = 0;
    while at < text.len() {
        match (text[at], text.get(at + 1)) {
            (b':', _) => return (name, Some(text[at + 1..].to_vec())),
            (b'\\', Some(next @ (b':' | b'\\'))) => {
                name.push(*next);
                at += 1;
            }
            (byte, _) => name.push(byte),
        }
        at += 1;
    }
    (name, None)
}

pub fn hostpubmd5(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    if not_blank(text)?.len() != 32 {
        return Err(Wrong::BadUse.into());
    }
    parser.request().options.set_text(O::SshHostPublicKeyMd5, text);
    Ok(())
}

pub fn ech(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    if !parser.world.has("ECH") {
        return Err(Wrong::NotSupported.into());
    }
    let Some(file) = not_blank(text)?.strip_prefix(b"ecl:@") else {
        parser.request().options.push(O::Ech, text);
        return Ok(());
    };
    let Ok(content) = parser.world.read(file, 1 << 20) else {
        let file = shown(file);
        parser.messages.warn(&format!("Could not read file \"{file}\" specified for \"--ech ecl:\" option"));
        return Err(Wrong::BadUse.into());
    };
    let list = [b"ecl:", without_line_ends(&content).as_slice()].concat();
    parser.request().options.push(O::Ech, &list);
    Ok(())
}

pub fn dump_ca(_: &mut Parser) -> Done {
    Err(Stop::CaBundle)
}

pub fn engine(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    if not_blank(text)? == b"list" {
        return Err(Stop::Engines);
    }
    parser.request().options.set_text(O::SslEngine, text);
    Ok(())
}

pub fn ssl(parser: &mut Parser, name: &str, on: bool) -> Done {
    parser.request().ssl_try = on;
    if on {
        parser.messages.warn(&format!("--{name} is an insecure option, consider --ssl-reqd instead"));
    }
    Ok(())
}

pub fn ssl_sessions(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    if !parser.world.has("SSLS-EXPORT") || !parser.world.has_system_tls() {
        return Err(Wrong::NotSupported.into());
    }
    parser.globals.ssl_sessions = Some(not_blank(text)?.to_vec());
    Ok(())
}

/// TLS 1.0 is 1 and TLS 1.3 is 4.
fn tls_min(parser: &mut Parser, version: u8) -> Done {
    let max = parser.request().tls_max;
    if max != 0 && max < version {
        parser.messages.error("Minimum TLS version set higher than max");
        return Err(Wrong::BadUse.into());
    }
    parser.request().tls_min = version;
    Ok(())
}

pub fn tlsv1(parser: &mut Parser) -> Done {
    tls_min(parser, 1)
}

pub fn tlsv11(parser: &mut Parser) -> Done {
    tls_min(parser, 2)
}

pub fn tlsv12(parser: &mut Parser) -> Done {
    tls_min(parser, 3)
}

pub fn tlsv13(parser: &mut Parser) -> Done {
    tls_min(parser, 4)
}

pub fn tls_max(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let max = match not_blank(text)? {
        b"default" => 0,
        b"1.0" => 1,
        b"1.1" => 2,
        b"1.2" => 3,
        b"1.3" => 4,
        _ => return Err(Wrong::BadUse.into()),
    };
    if max < parser.request().tls_min {
        parser.messages.error("--tls-max set lower than minimum accepted version");
        return Err(Wrong::BadUse.into());
    }
    parser.request().tls_max = max;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificate_names_and_pass_phrases() {
        let split = |text: &str| {
            let (name, password) = split_password(text.as_bytes());
            (String::from_utf8(name).unwrap(), password.map(|word| String::from_utf8(word).unwrap()))
        };
        assert_eq!(split("foo:bar:x"), ("foo".into(), Some("bar:x".into())));
        assert_eq!(split("foo\\:bar:x"), ("foo:bar".into(), Some("x".into())));
        assert_eq!(split("foo\\\\:x"), ("foo\\".into(), Some("x".into())));
        assert_eq!(split("foo\\x"), ("foo\\x".into(), None));
        assert_eq!(split("foo\\"), ("foo\\".into(), None));
        assert_eq!(split("pkcs11:a;b:c"), ("pkcs11:a;b:c".into(), None));
    }
}
