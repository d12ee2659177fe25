//! Flags of `--mirror-site` and `--sync`.

use super::connect::size;
use super::not_blank;
use crate::bytes::Bytes;
use crate::host_pattern::HostPattern;
use crate::numbers;
use crate::parse::{Done, Parser, Wrong};

pub fn accept(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    parser.globals.mirror.accept.extend(words(text)?);
    Ok(())
}

pub fn reject(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    parser.globals.mirror.reject.extend(words(text)?);
    Ok(())
}

pub fn mirror_hosts(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    const FORM: Wrong = Wrong::Allowed("takes names such as example.com, *.example.com or example.com:8443");
    let hosts = words(text)?.iter().map(|word| HostPattern::parse(word)).collect::<Option<Vec<_>>>();
    parser.globals.mirror.hosts.extend(hosts.ok_or(FORM)?);
    Ok(())
}

pub fn depth(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let depth = numbers::unsigned_up_to(text, i64::from(u32::MAX) / 2)?;
    parser.globals.mirror.depth = u32::try_from(depth).unwrap_or(u32::MAX);
    Ok(())
}

pub fn max_files(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    parser.globals.mirror.max_files = usize::try_from(numbers::unsigned(text)?).unwrap_or(usize::MAX);
    Ok(())
}

pub fn max_total(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let bytes = size(parser, text, "max-total")?;
    parser.globals.mirror.max_total = Some(bytes.unsigned_abs());
    Ok(())
}

pub fn sync_delete(parser: &mut Parser, _: &str, on: bool) -> Done {
    let mirror = &mut parser.globals.mirror;
    mirror.sync_delete = on;
    mirror.sync |= on;
    Ok(())
}

/// Returns what commas separate.
fn words(text: &[u8]) -> Result<Vec<Bytes>, Wrong> {
    let words = not_blank(text)?.split(|octet| *octet == b',').map(<[u8]>::trim_ascii);
    Ok(words.filter(|word| !word.is_empty()).map(<[u8]>::to_vec).collect())
}
