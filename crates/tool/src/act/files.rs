//! Flags about URLs, the files written and read, config files and groups.

use super::{lines, not_blank, read, size};
use crate::bytes::Bytes;
use crate::checksum;
use crate::message::{os_text, shown};
use crate::numbers;
use crate::options::ToolOption;
use crate::parse::{Done, Parser, Stop, Wrong};
use crate::raw::checksum::{Algorithm, Sum};
use crate::raw::{EasyOption as O, UploadMode};
use crate::request::{Clobber, Lacks, Segments, Target};
use crate::segments::sources;

/// Connections for one file.
const MOST_SEGMENTS: i64 = 64;

/// `--content-disposition`: also `--remote-header-name`.
pub fn content_disposition(parser: &mut Parser, _: &str, on: bool) -> Done {
    let request = parser.request();
    (request.content_disposition, request.remote_header_name) = (on, on);
    Ok(())
}

pub fn url(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let Some(file) = text.strip_prefix(b"@") else {
        return Ok(add_url(parser, text, false)?);
    };
    let content = parser.world.read(file, 100 << 20).map_err(|_| Wrong::Unreadable)?;
    for line in lines(&content) {
        add_url(parser, line, true).map_err(|_| Wrong::Unreadable)?;
    }
    Ok(())
}

/// `--input-file`: the file is read when its entries are transferred.
pub fn input_file(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let file = not_blank(text)?.to_vec();
    parser.request().input_files.push(file);
    Ok(())
}

pub fn queue(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    parser.globals.queue = Some(not_blank(text)?.to_vec());
    Ok(())
}

pub fn queue_list(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    parser.globals.queue_list = Some(super::report::table_or_json(text)?);
    Ok(())
}

pub fn queue_remove(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    parser.globals.queue_remove = Some(not_blank(text)?.to_vec());
    Ok(())
}

fn add_url(parser: &mut Parser, text: &[u8], from_file: bool) -> Result<(), Wrong> {
    let text = not_blank(text)?.to_vec();
    let target = next_target(parser, Lacks::Url);
    target.url = Some(text);
    if from_file {
        target.remote_name = true;
        target.no_glob = true;
    }
    let request = parser.request();
    let etag = request.options.text(ToolOption::EtagSave).is_some()
        || request.options.text(ToolOption::EtagCompare).is_some();
    if etag && request.url_count() > 1 {
        parser.messages.error("The etag options only work on a single URL");
        return Err(Wrong::BadUse);
    }
    Ok(())
}

fn next_target<'p>(parser: &'p mut Parser, lacks: Lacks) -> &'p mut Target {
    let mut number = parser.target_count;
    let request = parser.requests.last_mut().expect("there is always one group");
    let target = request.next_target(lacks, &mut number);
    parser.target_count = number;
    target
}

fn set_output(parser: &mut Parser, file: Option<Bytes>, remote_name: bool, null: bool) {
    let target = next_target(parser, Lacks::Output);
    target.output = file;
    target.output_by_document = false;
    target.remote_name = remote_name;
    target.out_null = null;
}

pub fn output(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let file = not_blank(text)?.to_vec();
    set_output(parser, Some(file), false, false);
    Ok(())
}

pub fn out_null(parser: &mut Parser, _: &str, _: bool) -> Done {
    set_output(parser, None, false, true);
    Ok(())
}

pub fn remote_name(parser: &mut Parser, _: &str, on: bool) -> Done {
    if on || parser.request().remote_name_all {
        set_output(parser, None, on, false);
    }
    Ok(())
}

pub fn upload_file(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let file = (!text.is_empty()).then(|| text.to_vec());
    let target = next_target(parser, Lacks::Upload);
    target.upload = file;
    Ok(())
}

pub fn upload_protocol(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let request = parser.requests.last_mut().expect("there is always one group");
    request.upload_protocol = Some(match text {
        b"tus" => UploadMode::Tus,
        b"ietf" => UploadMode::Draft,
        b"s3" => UploadMode::S3,
        _ => return Err(Wrong::Allowed("takes tus, ietf or s3").into()),
    });
    request.retry_resume = true;
    Ok(())
}

pub fn cache(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    parser.globals.cache = Some(not_blank(text)?.to_vec());
    Ok(())
}

pub fn cache_size(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let bytes = size(parser, text, "cache-size")?;
    parser.globals.cache_size = Some(bytes.unsigned_abs());
    Ok(())
}

pub fn checksum(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let sums = Sum::parse(text).map_err(|why| {
        parser.messages.error(&why);
        Wrong::Allowed("takes ALGORITHM=SUM, with the sum in hexadecimal digits")
    })?;
    next_target(parser, Lacks::Sums).sums = sums;
    Ok(())
}

/// A file of sums, in front of which the algorithm may be named.
pub fn checksum_file(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let named = text.iter().position(|byte| *byte == b'=').and_then(|equals| {
        Algorithm::from_name(&text[..equals]).map(|algorithm| (algorithm, &text[equals + 1..]))
    });
    let (algorithm, file) = named.map_or((None, text), |(algorithm, file)| (Some(algorithm), file));
    let entries = checksum::parse(&read(parser, not_blank(file)?)?, algorithm);
    if entries.is_empty() {
        parser.messages.error(&format!("No checksums in {}", shown(file)));
        return Err(Wrong::Allowed("takes a file of lines with SUM and NAME").into());
    }
    parser.request().checksum_files.extend(entries);
    Ok(())
}

pub fn segments(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let count = match text {
        b"auto" => Segments::Auto,
        _ => {
            let count = numbers::unsigned_up_to(text, MOST_SEGMENTS)
                .map_err(|_| Wrong::Allowed("takes auto or a number up to 64"))?;
            Segments::Count(count.max(1) as usize)
        }
    };
    parser.request().segments = Some(count);
    Ok(())
}

pub fn mirror(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let url = not_blank(text)?.to_vec();
    parser.request().mirrors.push(url);
    Ok(())
}

/// Each file of a Metalink becomes a URL with its name, its mirrors and its sums.
pub fn metalink(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let content = read(parser, not_blank(text)?)?;
    let described = std::str::from_utf8(&content)
        .map_err(|_| "not a Metalink: it is not in UTF-8".to_owned())
        .and_then(sources::metalink);
    let files = described.map_err(|why| {
        parser.messages.error(&format!("{} is {why}", shown(text)));
        Wrong::Allowed("takes a Metalink file (RFC 5854)")
    })?;
    for file in files {
        let mut urls = file.urls.into_iter();
        add_url(parser, &urls.next().unwrap_or_default(), false)?;
        let index = parser.request().url_count() - 1;
        if parser.request().matched[Lacks::Output as usize] == index {
            set_output(parser, None, false, false);
        }
        let request = parser.request();
        let target = &mut request.targets[index];
        target.no_glob = true;
        target.url_by_document = true;
        // A name that the user gave before has precedence.
        if target.output.is_none() && !target.out_null {
            (target.output, target.remote_name) = (Some(file.name), false);
            target.output_by_document = true;
        }
        target.mirrors = urls.collect();
        target.sums = file.sums;
        request.segments.get_or_insert(Segments::Auto);
    }
    Ok(())
}

pub fn clobber(parser: &mut Parser, _: &str, on: bool) -> Done {
    if parser.request().resume.is_some() && !on {
        parser.messages.error("--continue-at is mutually exclusive with --no-clobber");
        return Err(Wrong::BadUse.into());
    }
    parser.request().clobber = if on { Clobber::Always } else { Clobber::Never };
    Ok(())
}

pub fn remove_on_error(parser: &mut Parser, _: &str, on: bool) -> Done {
    if parser.request().resume.is_some() && on {
        parser.messages.error("--continue-at is mutually exclusive with --remove-on-error");
        return Err(Wrong::BadUse.into());
    }
    parser.request().remove_on_error = on;
    Ok(())
}

pub fn etag_save(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    etag(parser, ToolOption::EtagSave, text)
}

pub fn etag_compare(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    etag(parser, ToolOption::EtagCompare, text)
}

fn etag(parser: &mut Parser, which: ToolOption, text: &[u8]) -> Done {
    if parser.request().url_count() > 1 {
        parser.messages.error("The etag options only work on a single URL");
        return Err(Wrong::BadUse.into());
    }
    parser.request().options.set_text(which, not_blank(text)?);
    Ok(())
}

pub fn next(_: &mut Parser) -> Done {
    Err(Stop::Next)
}

pub fn create_file_mode(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let mode = numbers::octal_up_to(text, 0o777)?;
    parser.request().options.set_long(O::NewFilePerms, mode);
    Ok(())
}

pub fn quote(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let (list, command) = match text.first() {
        Some(b'-') => (O::PostQuote, &text[1..]),
        Some(b'+') => (O::PreQuote, &text[1..]),
        _ => (O::Quote, text),
    };
    parser.request().options.push(list, command);
    Ok(())
}

pub fn range(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    if parser.request().resume.is_some() {
        parser.messages.error("--continue-at is mutually exclusive with --range");
        return Err(Wrong::BadUse.into());
    }
    let mut range = not_blank(text)?.to_vec();
    if let Some((_, rest)) = numbers::leading(text, i64::MAX)
        && !rest.starts_with(b"-")
    {
        parser.messages.warn("A specified range MUST include at least one dash (-). Appending one for you");
        range.truncate(text.len() - rest.len());
        range.push(b'-');
    } else if text.iter().any(|byte| !byte.is_ascii_digit() && !b"-,".contains(byte)) {
        parser.messages.warn(
            "Invalid character is found in given range. A specified range MUST have only digits in \
             'start'-'stop'. The server's response to this request is uncertain.",
        );
    }
    parser.request().options.set_text(O::Range, &range);
    Ok(())
}

pub fn ftp_pasv(parser: &mut Parser) -> Done {
    parser.request().options.clear(O::FtpPort);
    Ok(())
}

/// CURLFTPMETHOD_ numbers.
pub fn ftp_method(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let method = match text.to_ascii_lowercase().as_slice() {
        b"multicwd" => 1,
        b"nocwd" => 2,
        b"singlecwd" => 3,
        _ => {
            let text = shown(text);
            parser.messages.warn(&format!("unrecognized ftp file method '{text}', using default"));
            1
        }
    };
    parser.request().options.set_long(O::FtpFileMethod, method);
    Ok(())
}

/// CURLFTPSSL_CCC_ numbers.
const CCC_PASSIVE: i64 = 1;
const CCC_ACTIVE: i64 = 2;

pub fn ftp_ccc(parser: &mut Parser, _: &str, on: bool) -> Done {
    let mode = parser.request().ftp_ccc.unwrap_or(CCC_PASSIVE);
    parser.request().ftp_ccc = on.then_some(mode);
    Ok(())
}

pub fn ftp_ccc_mode(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let mode = match text.to_ascii_lowercase().as_slice() {
        b"passive" => CCC_PASSIVE,
        b"active" => CCC_ACTIVE,
        _ => {
            let text = shown(text);
            parser.messages.warn(&format!("unrecognized ftp CCC method '{text}', using default"));
            CCC_PASSIVE
        }
    };
    parser.request().ftp_ccc = Some(mode);
    Ok(())
}

/// CURLULFLAG_ bits.
const UPLOAD_FLAGS: &[(&[u8], i64)] =
    &[(b"answered", 1), (b"deleted", 2), (b"draft", 4), (b"flagged", 8), (b"seen", 16)];

pub fn upload_flags(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    for word in text.split(|byte| *byte == b',') {
        let (on, name) = match word.strip_prefix(b"-") {
            Some(name) => (false, name),
            None => (true, word),
        };
        let (_, bit) = UPLOAD_FLAGS.iter().find(|(known, _)| *known == name).ok_or(Wrong::Unknown)?;
        parser.request().options.bits(O::UploadFlags, *bit, on);
    }
    Ok(())
}

/// A date, or the time of a file; with - for older ones and = for the exact time (CURL_TIMECOND_).
pub fn time_cond(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let (condition, when) = match text.first() {
        Some(b'+') => (1, &text[1..]),
        Some(b'-') => (2, &text[1..]),
        Some(b'=') => (3, &text[1..]),
        _ => (1, text),
    };
    let seconds = parser.world.date(when).map_or_else(|| parser.world.modified(when), Ok);
    match seconds {
        Ok(seconds) => {
            parser.request().options.set_long(O::TimeCondition, condition);
            parser.request().options.set_long(O::TimeValueLarge, seconds);
        }
        Err(error) => {
            parser.request().options.clear(O::TimeCondition);
            parser.messages.warn(&format!("Failed to get filetime: {}", os_text(&error)));
            parser.messages.warn(
                "Illegal date format for -z, --time-cond (and not a filename). Disabling time condition. \
                 See curl_getdate(3) for valid date syntax.",
            );
        }
    }
    Ok(())
}

/// Reads a list of headers from `@file`.
pub(super) fn header_file(parser: &mut Parser, file: &[u8], list: O) -> Done {
    let content = read(parser, file)?;
    for line in lines(&content) {
        parser.request().options.push(list, line);
    }
    Ok(())
}
