//! Every parser that reads bytes of a peer or a user, as one function of bytes each, with the properties that
//! hold for any input. The fuzz targets run them under libFuzzer, crates/wire/tests/mutations.rs on mutated
//! seeds.

use wire::auth::{challenge, digest, httpsig, ntlm, sasl, sigv4};
use wire::content_encoding::{DEPTH_LIMIT, Decoder, Dictionary};
use wire::cookie::{Jar, Target};
use wire::h2::{Config, ErrorCode, Event, Field, Opening, Session, StreamId};
use wire::http1::{chunked::ChunkedDecoder, header::LineBuffer, status::StatusLine};
use wire::rtsp::{self, Front};
use wire::url::{Part, Url};
use wire::{
    altsvc, base64, cache, date, escape, fnmatch, ftp, hsts, imap, mime, netrc, noproxy, pop3, smtp, socks,
    socks_gssapi, ws,
};

type Parser = (&'static str, fn(&[u8]));

/// Name (also that of its directory of seeds) and function.
pub const PARSERS: &[Parser] = &[
    ("altsvc", altsvc_cache),
    ("capsule", capsules),
    ("cache", cache_rules),
    ("challenge", challenges),
    ("chunked", chunked),
    ("content_encoding", content_encoding),
    ("cookie", cookies),
    ("cookie_file", cookie_file),
    ("date", dates),
    ("dict", dict_request),
    ("dns", dns_replies),
    ("encodings", encodings),
    ("fnmatch", patterns),
    ("ftp_list", ftp_list),
    ("ftp_reply", ftp_reply),
    ("gopher", gopher_request),
    ("h2", h2_session),
    ("h3", h3_streams),
    ("header", headers),
    ("hsts", hsts_cache),
    ("imap", imap_lines),
    ("ldap", ldap_messages),
    ("mqtt", mqtt_heads),
    ("netrc", netrc_file),
    ("ntlm", ntlm_message),
    ("pop3", pop3_replies),
    ("references", references),
    ("rtsp", rtsp_packets),
    ("sasl", sasl_challenges),
    ("signing", signing),
    ("smtp", smtp_lines),
    ("socks", socks_replies),
    ("suffix", public_suffixes),
    ("telnet", telnet_session),
    ("tftp", tftp_packets),
    ("url", urls),
    ("url_parts", url_parts),
    ("ws", ws_frames),
    ("ws_deflate", ws_compressed),
];

const NOW: i64 = 1_700_000_000;

/// A parsed URL that is written out parses to the same URL.
pub fn urls(input: &[u8]) {
    for flags in [0, 0x008, 0x200, 0x004 | 0x080 | 0x800, 0x400 | 0x008, 0x010] {
        let Ok(url) = Url::parse(input, flags) else { continue };
        let whole = url.get(Part::Url, 0x4000).expect("a parsed URL is complete");
        let again = Url::parse(&whole, flags | 0x008 | 0x800);
        let again = again.and_then(|url| url.get(Part::Url, 0x4000)).unwrap_or_else(|error| {
            panic!(
                "{:?} became {:?}: {error}",
                String::from_utf8_lossy(input),
                String::from_utf8_lossy(&whole)
            )
        });
        assert_eq!(String::from_utf8_lossy(&again), String::from_utf8_lossy(&whole));
        for number in 0..=10 {
            let part = Part::from_number(number).expect("there are eleven");
            for show in [0x40, 0x80, 0x1000, 0x2000, 1, 2] {
                let _ = url.get(part, show);
            }
        }
        let _ = (url.origin(), url.path_and_query(), url.host_unbracketed());
    }
}

/// The first half as a reference, then in each part.
pub fn url_parts(input: &[u8]) {
    let base = Url::parse(b"http://user:pw@host.example:8080/a/b?c=d#e", 0).expect("a good URL");
    for number in 0..=10 {
        let part = Part::from_number(number).expect("there are eleven");
        for flags in [0, 0x008, 0x080, 0x100 | 0x080, 0x008 | 0x400] {
            let mut url = base.clone();
            if url.set(part, Some(input), flags).is_ok() {
                let _ = url.get(Part::Url, 0);
                let _ = url.get(part, 0x40);
            } else {
                assert_eq!(url, base, "a refused part changes nothing");
            }
        }
    }
    let _ = base.clone().set_authority(input);
}

/// The base is everything up to the first line end, the rest is a reference relative to it; the result parses
/// to itself, and a reference that is only a fragment changes nothing else.
pub fn references(input: &[u8]) {
    let end = input.iter().position(|&octet| octet == b'\n').unwrap_or(input.len());
    let (base, rest) = input.split_at(end);
    let Ok(base) = Url::parse(base, 0x008) else { return };
    let reference = rest.get(1..).unwrap_or_default();
    for flags in [0, 0x008, 0x010, 0x080 | 0x800] {
        let mut url = base.clone();
        if url.set(Part::Url, Some(reference), flags).is_err() {
            assert_eq!(url, base, "a refused reference changes nothing");
            continue;
        }
        let whole = url.get(Part::Url, 0x4000).expect("a resolved URL is complete");
        // Without encoding again: unencoded octets of the base may stay.
        let again =
            Url::parse(&whole, flags & !0x080 | 0x008 | 0x800).and_then(|url| url.get(Part::Url, 0x4000));
        assert_eq!(again.as_deref(), Ok(&*whole), "{}", String::from_utf8_lossy(&whole));
        if reference.starts_with(b"#") {
            assert_eq!((url.origin(), url.host_unbracketed()), (base.origin(), base.host_unbracketed()));
        }
    }
}

/// Lines: the application's parameters or components, host, path, query, key, then headers. What signing adds
/// to the request contains no line end, because no line of the input does.
pub fn signing(input: &[u8]) {
    let mut lines = input.split(|&octet| octet == b'\n');
    let mut line = || lines.next().unwrap_or_default();
    let (chosen, host, path, query, key) = (String::from_utf8_lossy(line()), line(), line(), line(), line());
    let query = (!query.is_empty()).then_some(query);
    let headers: Vec<(&[u8], &[u8])> = lines
        .filter_map(|line| Some(line.split_at(line.iter().position(|&octet| octet == b':')?)))
        .map(|(name, value)| (name, &value[1..]))
        .collect();
    for payload in [sigv4::Payload::Known(key), sigv4::Payload::Streamed] {
        let request = sigv4::Request {
            parameters: &chosen,
            user: key,
            secret: key,
            method: b"GET",
            host_name: host,
            host,
            path,
            query,
            headers: &headers,
            payload,
            now: NOW,
        };
        if let Ok(signature) = sigv4::sign(&request) {
            assert!(!signature.authorization.contains(&b'\n'));
            assert!(signature.headers.iter().all(|(_, value)| !value.contains(&b'\n')));
        }
    }
    let request = httpsig::Request {
        method: b"GET",
        authority: host,
        path,
        query,
        headers: &headers,
        components: (!chosen.is_empty()).then_some(&*chosen),
        key_id: &String::from_utf8_lossy(key),
        algorithm: httpsig::Algorithm::HmacSha256,
        created: NOW,
    };
    if let Ok(base) = httpsig::base(&request) {
        assert!(base.text.ends_with(base.parameters.as_bytes()) && !base.parameters.contains('\n'));
    }
}

/// A domain, whose case must not matter: a cookie for it from a host below is accepted or refused either way.
pub fn public_suffixes(input: &[u8]) {
    let domain: Vec<u8> = input.iter().copied().filter(|octet| !b";\r\n\0\t ".contains(octet)).collect();
    let host = [b"www.", &*domain].concat();
    let accepted = |domain: &[u8]| {
        let target = Target { host: &host, path: b"/", secure: true };
        Jar::new().receive(&[b"a=b; domain=", domain].concat(), target, NOW).is_ok()
    };
    assert_eq!(accepted(&domain), accepted(&domain.to_ascii_uppercase()));
}

/// Cookies in a request contain no line ends and keep the limit of size.
pub fn cookies(input: &[u8]) {
    let target = Target { host: b"www.host.example", path: b"/a/b", secure: true };
    let mut jar = Jar::new();
    for line in input.split(|&octet| octet == b'\n') {
        let _ = jar.receive(line, target, NOW);
    }
    if let Some(header) = jar.header(target, None, NOW) {
        assert!(header.len() < 8190 && header.iter().all(|&octet| octet >= b' ' && octet != 0x7f));
    }
    let lines = jar.lines(NOW).len();
    let mut again = Jar::new();
    again.load(&jar.file(NOW), false, NOW);
    assert_eq!(again.lines(NOW).len(), lines);
}

pub fn cookie_file(input: &[u8]) {
    let mut jar = Jar::new();
    jar.load(input, false, NOW);
    let file = jar.file(NOW);
    let mut again = Jar::new();
    again.load(&file, false, NOW);
    assert_eq!(again.lines(NOW).len(), jar.lines(NOW).len());
}

pub fn hsts_cache(input: &[u8]) {
    let mut cache = hsts::Cache::new();
    let _ = cache.receive(b"host.example", input, NOW);
    cache.load(input, NOW);
    let file = cache.file();
    let mut again = hsts::Cache::new();
    again.load(&file, NOW);
    assert_eq!(again.entries().len(), cache.entries().len());
    let _ = cache.applies(input, NOW);
}

pub fn altsvc_cache(input: &[u8]) {
    let source = altsvc::Service { alpn: altsvc::Alpn::H2, host: b"host.example".to_vec(), port: 443 };
    let mut cache = altsvc::Cache::new();
    let _ = cache.receive(&source, input, NOW);
    cache.load(input, NOW);
    let _ = (cache.file(), cache.find(&source, |_| true, NOW));
}

/// A reply that can be served has an age, one that is stored may be stored, and updating a reply a second
/// time changes nothing. The input is the request's fields, a null byte, the reply's fields.
pub fn cache_rules(input: &[u8]) {
    let fields = |text: &[u8]| -> Vec<cache::Field> {
        let colon = |line: &[u8]| line.iter().position(|byte| *byte == b':');
        let lines = text.split(|byte| *byte == b'\n');
        let field =
            |line: &[u8]| colon(line).map(|at| (line[..at].to_vec(), line[at + 1..].trim_ascii().to_vec()));
        lines.filter_map(field).collect()
    };
    let (request, response) = input.split_at(input.iter().position(|byte| *byte == 0).unwrap_or(0));
    let (request, response) = (fields(request), fields(response));
    for status in [200, 206, 302, 503] {
        let kept = cache::StoredResponse { status, fields: &response, asked: NOW, received: NOW + 3 };
        assert!(cache::lifetime(kept) >= 0);
        let _ = cache::is_storable(&request, kept);
        for now in [NOW, NOW + 3, NOW + 100] {
            if let cache::Verdict::Serve { age, stale } = cache::verdict(&request, kept, now) {
                assert!(age >= 0 && now >= NOW + 3 && stale == (age >= cache::lifetime(kept)));
            }
            let _ = cache::stands_in(&request, kept, now);
        }
        let _ = cache::revalidation(&request, kept);
        stored_parts(&request, &response, status);
    }
    let merged = cache::merged(&response, &request);
    assert_eq!(cache::merged(&merged, &request), merged);
    assert_eq!(cache::lasting(&cache::lasting(&response)), cache::lasting(&response));
    let _ = (cache::confirms(&response, &request), cache::is_conditional(&request));
    if let Some(names) = cache::nominated(&response) {
        assert_eq!(cache::selected(&names, &request).len(), names.len());
    }
}

/// A part of a stored body lies inside it, and its head says so.
fn stored_parts(request: &[cache::Field], response: &[cache::Field], status: u16) {
    const LENGTH: u64 = 10;
    let Some(range) = cache::value(request, "Range") else { return };
    let source = cache::RangeSource { status, fields: response, length: Some(LENGTH), answered: None };
    let Some(selection) = cache::select(Some(&range), source) else { return };
    let (offset, length) = selection.bytes(LENGTH);
    assert!(offset + length <= LENGTH && length > 0);
    if let cache::Selection::Part { range, .. } = selection {
        assert_eq!(cache::ContentRange::of(&selection.fields(response)), Some(range));
    }
    let normal = cache::normalized(&range);
    assert_eq!(cache::normalized(&normal), normal);
}

/// An answer to a challenge is one line.
pub fn challenges(input: &[u8]) {
    for challenge in challenge::parse(input) {
        let Ok(mut digest) = digest::Digest::new(&challenge) else { continue };
        let request =
            digest::Request { user: b"user", password: b"pw", method: b"GET", uri: b"/", cnonce: b"c" };
        let answer = digest.respond(request);
        let is_line = |text: &[u8]| !text.contains(&b'\n');
        assert!(is_line(&answer) || !is_line(input));
    }
}

pub fn ntlm_message(input: &[u8]) {
    let who = ntlm::Credentials { user: b"D\\u", password: b"p", workstation: b"w" };
    for encoded in [input.to_vec(), base64::encode(input).into_bytes()] {
        if let Ok(message) = ntlm::Message2::parse(&encoded) {
            let _ = message.answer(who, [1; 8], NOW);
        }
    }
}

/// The first octet chooses coding and step; output is bounded here, as a caller would.
pub fn content_encoding(input: &[u8]) {
    const LISTS: [&str; 8] = ["gzip", "deflate", "br", "zstd", "gzip, deflate", "br, zstd", "dcb", "dcz"];
    let Some((&first, rest)) = input.split_first() else { return };
    let list = LISTS[usize::from(first) % LISTS.len()];
    let dictionary = std::rc::Rc::new(Dictionary::new(b"a dictionary of words".to_vec()));
    let mut decoder = Decoder::with_dictionary(list, DEPTH_LIMIT, Some(&dictionary)).expect("not too many");
    let mut left = 1usize << 22;
    for piece in [&*dictionary.header(list)].into_iter().chain(rest.chunks(1 + usize::from(first >> 3))) {
        decoder.feed(piece);
        loop {
            let Ok(slice) = decoder.next_slice() else { return };
            let Some(slice) = slice else { break };
            assert!(slice.len() <= 16 * 1024);
            let Some(less) = left.checked_sub(slice.len()) else { return };
            left = less;
        }
    }
    let _ = decoder.finish();
}

pub fn chunked(input: &[u8]) {
    let mut decoder = ChunkedDecoder::default();
    for piece in input.chunks(7) {
        let mut buffer = piece.to_vec();
        if decoder.decode(&mut buffer).is_err() || decoder.done() {
            return;
        }
    }
}

pub fn headers(input: &[u8]) {
    let mut buffer = LineBuffer::default();
    for piece in input.chunks(11) {
        buffer.extend(piece);
        while let Ok(Some(line)) = buffer.line(1000) {
            let _ = StatusLine::parse(&line);
            if let Some(header) = wire::http1::header::HeaderLine::parse(&line) {
                let _ = header.has_token("chunked");
            }
            if line.is_empty() {
                break;
            }
        }
    }
    assert_eq!(fields(input, 3), fields(input, input.len().max(1)), "however the bytes come");
}

/// The fields of a head that arrives in pieces of this size, and whether each is plain.
fn fields(input: &[u8], piece: usize) -> Vec<(Vec<u8>, bool)> {
    let mut buffer = LineBuffer::default();
    let mut fields = Vec::new();
    for piece in input.chunks(piece) {
        buffer.extend(piece);
        loop {
            match buffer.field_part(1000) {
                Ok(Some(part)) => {
                    fields.push((buffer.rest()[..part.len].to_vec(), part.plain));
                    buffer.consume(part.len);
                }
                Ok(None) => break,
                Err(_) => return fields,
            }
        }
    }
    fields
}

pub fn dates(input: &[u8]) {
    if let Some(seconds) = date::parse(input) {
        let text = date::http(seconds);
        let is_before_calendar = seconds < -12_212_553_600; // a zone can reach back there
        assert!(date::parse(text.as_bytes()) == Some(seconds) || is_before_calendar, "{text}");
    }
}

pub fn netrc_file(input: &[u8]) {
    for login in [None, Some(&b"login"[..])] {
        let _ = netrc::find(input, b"host.example", login);
    }
}

/// Up to the first line end the pattern, then the name.
pub fn patterns(input: &[u8]) {
    let end = input.iter().position(|&octet| octet == b'\n').unwrap_or(input.len());
    let (pattern, name) = input.split_at(end);
    let fits = fnmatch::matches(pattern, name);
    if pattern.iter().all(|&octet| octet == b'*') && !pattern.is_empty() {
        assert!(fits);
    }
    let text = String::from_utf8_lossy(input);
    let _ = noproxy::matches("www.host.example", &text) | noproxy::matches("10.0.0.1", &text);
}

/// Files come out the same however the listing is cut.
pub fn ftp_list(input: &[u8]) {
    let read = |step: usize| {
        let mut reader = ftp::list::ListReader::new();
        let mut files = Vec::new();
        let outcome = input.chunks(step).try_for_each(|piece| reader.push(piece, &mut files));
        (outcome, files)
    };
    assert_eq!(read(3), read(usize::MAX));
}

pub fn ftp_reply(input: &[u8]) {
    let mut reader = ftp::reply::ReplyReader::new(2000);
    for line in input.split_inclusive(|&octet| octet == b'\n') {
        let Ok(Some(reply)) = reader.take_line(line) else { continue };
        let _ = (reply.passive(), reply.extended_passive(), reply.directory());
        let _ = (reply.modified(), reply.size(), reply.announced_size());
    }
    for method in [ftp::path::Method::MultiCwd, ftp::path::Method::NoCwd, ftp::path::Method::SingleCwd] {
        let _ = ftp::path::split(ftp::path::split_type(input).0, method);
    }
}

/// Unstuffing returns the message that was stuffed, whatever the pieces.
pub fn pop3_replies(input: &[u8]) {
    let _ = (pop3::status(input), pop3::timestamp(input), pop3::has_body(input));
    pop3::Capabilities::default().take(input);
    for cut in [1, 3, 1000] {
        let (mut stuffer, mut stuffed) = (smtp::Stuffer::default(), Vec::new());
        input.chunks(cut).for_each(|piece| stuffer.write(piece, &mut stuffed));
        stuffer.end(&mut stuffed);
        let (mut unstuffer, mut message) = (pop3::Unstuffer::default(), Vec::new());
        let mut ended = false;
        for piece in stuffed.chunks(cut) {
            assert!(!ended, "the end is the last");
            let mut buffer = [b"?", piece].concat();
            let got = unstuffer.take(&mut buffer);
            message.extend_from_slice(&buffer[..got.written]);
            ended = got.end.is_some_and(|end| end == buffer.len());
        }
        let whole = input.is_empty() || input.ends_with(b"\r\n");
        let added: &[u8] = if whole { b"" } else { b"\r\n" };
        assert!(ended && message.strip_suffix(added) == Some(input));
    }
}

/// A mailbox that was given as one line is written as one line.
pub fn smtp_lines(input: &[u8]) {
    if let Some(line) = smtp::line(input) {
        smtp::Extensions::default().take(line.text);
        assert!(line.code < 1000);
    }
    let mailbox = smtp::Mailbox::parse(input);
    assert!(input.contains(&b'\n') || !mailbox.path().contains(&b'\n'));
}

/// No challenge makes a conversation end as done.
pub fn sasl_challenges(input: &[u8]) {
    let _ = sasl::Preference::parse(input, Some("APOP"), sasl::Mechanisms::DEFAULT);
    let who = sasl::Login {
        user: b"u".to_vec(),
        password: input.to_vec(),
        bearer: Some(b"t".to_vec()),
        is_given: true,
        ..sasl::Login::default()
    };
    let fresh = sasl::Fresh { nonce: b"n".to_vec(), octets: [0; 8], now: NOW };
    let encoded = base64::encode(input);
    let mut talk = sasl::Conversation::new(sasl::Mechanisms::DEFAULT, sasl::Mechanisms::DEFAULT, false, 0);
    let mut action = talk.begin(&who, &fresh);
    for round in 0..40 {
        match action {
            sasl::Action::Exhausted | sasl::Action::Denied => return,
            sasl::Action::Done => panic!("nobody said so"),
            _ => {}
        }
        let challenge = if round % 3 == 0 { input } else { encoded.as_bytes() };
        action = talk.answer(sasl::Reply::Continue(challenge), &who, &fresh);
    }
}

pub fn socks_replies(input: &[u8]) {
    if let Some(reply) = input.first_chunk::<8>() {
        let _ = socks::reply4(reply);
    }
    if let Some(head) = input.first_chunk::<4>() {
        assert!(socks_gssapi::data_length(*head).is_none_or(|n| n <= socks_gssapi::LONGEST_TOKEN));
    }
    if let Some(reply) = input.first_chunk::<5>() {
        let _ = socks::reply5(reply, "host", 80);
    }
    if let Some(reply) = input.first_chunk::<2>() {
        let ways = socks::AuthMethods { gssapi: true, password: true, named: true };
        let _ = (socks::choice5(*reply, ways), socks::login_reply5(*reply));
        let _ = socks_gssapi::answer(socks_gssapi::Kind::Protection, *reply);
        let _ = socks_gssapi::level(&input[..1]);
    }
    let _ = (socks::login5(input, input), socks::connect4(socks::Destination::Name("host"), 80, input));
}

/// Encoded data decodes to the input, and the MIME encoders keep their line length.
pub fn encodings(input: &[u8]) {
    assert_eq!(escape::decode(&escape::encode(input), escape::Reject::Nothing).as_deref(), Ok(input));
    let _ = (escape::decode(input, escape::Reject::Control), base64::decode(input), wire::hex::decode(input));
    if !input.is_empty() {
        assert_eq!(base64::decode(base64::encode(input).as_bytes()).as_deref(), Some(input));
    }
    for name in ["base64", "quoted-printable", "7bit", "8bit", "binary"] {
        let encoder = mime::Encoder::from_name(name.as_bytes()).expect("a known encoder");
        let mut encoding = mime::Encoding::new(encoder);
        let mut out = Vec::new();
        if input.chunks(5).try_for_each(|piece| encoding.push(piece, &mut out)).is_err() {
            continue;
        }
        encoding.finish(&mut out);
        if let Some(size) = encoder.encoded_size(input.len() as u64) {
            assert_eq!(size, out.len() as u64, "{name}");
        }
        if name.len() > 6 {
            assert!(out.split(|&octet| octet == b'\n').all(|line| line.len() <= 77));
        }
    }
}

/// Three lines for any URL.
pub fn dict_request(input: &[u8]) {
    if let Ok(sent) = wire::dict::request(input, "client") {
        assert_eq!(sent.iter().filter(|octet| matches!(octet, b'\r' | b'\n')).count(), 6);
        assert!(sent.starts_with(b"CLIENT client\r\n") && sent.ends_with(b"\r\nQUIT\r\n"));
    }
}

/// One line for any URL.
pub fn gopher_request(input: &[u8]) {
    if let Ok(sent) = wire::gopher::request(input) {
        assert_eq!(sent.iter().filter(|octet| matches!(octet, b'\r' | b'\n' | 0)).count(), 2);
        assert!(sent.ends_with(b"\r\n"));
    }
}

/// A whole session with a server that sends anything, read in pieces, while streams are opened, written, read
/// and reset: memory and pending output stay bounded, and there is no event for a stream after its end.
pub fn h2_session(input: &[u8]) {
    let Some((way, input)) = input.split_first() else { return };
    let config = Config { push: way & 1 != 0, max_field_list: 4000, ..Config::default() };
    let piece = [1, 3, 17, 100_000][usize::from(way >> 1 & 3)];
    let mut session = Session::client(config);
    let mut open: Vec<StreamId> = Vec::new();
    let mut out = Vec::new();
    for (turn, piece) in input.chunks(piece).enumerate() {
        if turn.is_multiple_of(8) {
            act(&mut session, &mut open, turn / 8 + usize::from(*way));
        }
        if take_in(&mut session, piece, &mut open).is_err() {
            break;
        }
        out.clear();
        session.write_into(&mut out, 16 << 10);
        assert!(out.len() <= (64 << 10) + 8 * piece.len(), "more to send than was asked for");
    }
    out.clear();
    session.write_into(&mut out, 1 << 20);
}

fn act(session: &mut Session, open: &mut Vec<StreamId>, turn: usize) {
    const FIELDS: [(&str, &str); 5] =
        [(":method", "GET"), (":scheme", "http"), (":authority", "h"), (":path", "/p"), ("accept", "*/*")];
    let fields = FIELDS.iter().map(|(name, value)| Field {
        name: name.as_bytes(),
        value: value.as_bytes(),
        sensitive: turn.is_multiple_of(3),
    });
    let opening = Opening { end: turn.is_multiple_of(2), head_only: turn % 5 == 4, ..Opening::default() };
    open.extend(session.open(fields, opening));
    let Some(id) = open.get(turn % open.len().max(1)).copied() else { return };
    match turn % 7 {
        0 => session.end(id),
        1 => session.ping([1; 8]),
        2 => {
            session.reset(id, ErrorCode::CANCEL);
            open.retain(|known| *known != id);
        }
        _ => drop(session.queue(id, &[7; 3000])),
    }
}

fn take_in(session: &mut Session, piece: &[u8], open: &mut Vec<StreamId>) -> Result<(), ()> {
    let mut at = 0;
    loop {
        let mut consumed = None;
        let step = session.next(&piece[at..]).map_err(drop)?;
        at += step.used;
        let (stream, gone) = match step.event {
            None => break,
            Some(Event::Data { stream, data, .. }) => {
                consumed = Some((stream, data.len()));
                (Some(stream), false)
            }
            Some(Event::Reset { stream, .. } | Event::Refused { stream }) => (Some(stream), true),
            Some(Event::Head { stream, status, fields, .. }) => {
                assert!(
                    (200..1000).contains(&status) && fields.iter().all(|(name, _)| !name.starts_with(b":"))
                );
                (Some(stream), false)
            }
            Some(Event::Informational { stream, .. } | Event::Trailers { stream, .. }) => {
                (Some(stream), false)
            }
            Some(Event::Promise { parent, stream, .. }) => {
                open.push(stream);
                (Some(parent), false)
            }
            Some(_) => (None, false),
        };
        assert!(stream.is_none_or(|stream| open.contains(&stream)), "an event of a stream that is no more");
        if gone {
            open.retain(|known| Some(*known) != stream);
        }
        if let Some((stream, len)) = consumed {
            session.consume(stream, len);
        }
    }
    assert_eq!(at, piece.len());
    Ok(())
}

/// A parsed packet is written as it was, except for trailing bytes.
pub fn tftp_packets(input: &[u8]) {
    let Ok(packet) = wire::tftp::Packet::parse(input) else { return };
    let mut out = Vec::new();
    packet.write(&mut out);
    assert_eq!(wire::tftp::Packet::parse(&out), Ok(packet));
}

/// A name that is read can be sent; the results are bounded, and services are sorted by priority.
pub fn dns_replies(input: &[u8]) {
    use wire::dns::{Kind, Name, Question, Reply, Verdict};
    let Ok(reply) = Reply::parse(input) else { return };
    for kind in [Kind::A, Kind::Aaaa, Kind::Https] {
        let question = Question { name: Name::parse("a.example").unwrap(), kind };
        let _ = (reply.is_to(&question, true), reply.is_truncated());
        let Ok(answer) = reply.answer(&question) else { continue };
        assert!(answer.name.octets().len() <= 255 && answer.addresses.len() <= 256);
        assert!(answer.bindings.is_sorted_by_key(|binding| binding.priority));
        assert!(
            answer.verdict == Verdict::Found || answer.addresses.is_empty() && answer.bindings.is_empty()
        );
        assert!(!answer.addresses.iter().any(|ip| ip.is_ipv6() == (kind == Kind::A)));
        if let Some(host) = answer.name.host() {
            assert_eq!(Name::parse(&host).unwrap(), answer.name);
        }
    }
}

/// A head has at most five bytes, and a length that four of them can encode.
pub fn mqtt_heads(input: &[u8]) {
    if let Ok(Some((head, length))) = wire::mqtt::Head::parse(input) {
        assert!((2..=5).contains(&length) && head.remaining <= wire::mqtt::MAX_REMAINING);
    }
    if let Ok(packet) = wire::mqtt::connect(input, Some(input), None) {
        let (head, length) = wire::mqtt::Head::parse(&packet).unwrap().unwrap();
        assert_eq!(packet.len(), length + head.remaining as usize);
    }
}

/// Any input is consumed in steps that end, and never more than there is.
pub fn rtsp_packets(input: &[u8]) {
    let mut channels = wire::rtsp::Channels::default();
    channels.announced(input);
    channels.announced(b"interleaved=0-9");
    for awaits_message in [false, true] {
        let mut rest = input;
        while let Front::Packet(length) | Front::Junk(length) = rtsp::front(rest, &channels, awaits_message) {
            assert!(length > 0);
            rest = &rest[length..];
        }
        assert!(awaits_message || rest.len() < 4 + 0xffff);
    }
    if let Some(status) = rtsp::status(input) {
        assert!(status.code < 1000);
    }
    let _ = (rtsp::sequence_number(input), rtsp::session_id(input));
}

/// No path puts a line break into a command, and no line announces more than sizes can be.
pub fn imap_lines(input: &[u8]) {
    for tag in [&b"A001"[..], b"*"] {
        if let imap::Line::Untagged(untagged) = imap::classify(input, tag) {
            assert!(untagged.literal().is_none_or(|size| i64::try_from(size).is_ok()));
            assert!(untagged.words().all(|word| !word.is_empty()));
            let _ = (untagged.uid_validity(), untagged.is(b"FETCH"));
        }
    }
    let _ = imap::literal_at_end(input);
    let argument = imap::argument(input);
    assert!(argument.len() <= 2 * input.len() + 2);
    if let Ok(place) = imap::UrlPath::parse(input) {
        let parts = [&place.mailbox, &place.uid, &place.index, &place.section, &place.partial];
        assert!(parts.into_iter().flatten().flatten().all(|octet| *octet >= b' '));
        let _ = place.fetch();
    }
}

/// Data is never longer than the input, replies not by much, and the size of pieces does not change the
/// result.
pub fn telnet_session(input: &[u8]) {
    let wishes = || {
        let mut wishes = wire::telnet::TelnetOptions::default();
        for wish in input.split(|byte| *byte == b'\n') {
            let _ = wishes.add(wish);
        }
        wishes
    };
    let mut whole = input.to_vec();
    let mut session = wire::telnet::Session::new(wishes());
    let data = session.receive(&mut whole).map(|length| whole[..length].to_vec());
    let mut bytewise = wire::telnet::Session::new(wishes());
    let pieces: Result<Vec<Vec<u8>>, _> = input
        .iter()
        .map(|&byte| {
            let mut piece = [byte];
            bytewise.receive(&mut piece).map(|length| piece[..length].to_vec())
        })
        .collect();
    assert_eq!(data, pieces.map(|pieces| pieces.concat()));
}

/// Messages, URLs and filters of LDAP: a parsed search can be sent, and a complete message is no longer than
/// the input.
pub fn ldap_messages(input: &[u8]) {
    if let Ok(Some((_, answer, length))) = wire::ldap::answer(input) {
        assert!(length <= input.len());
        if let wire::ldap::Answer::Entry(entry) = answer {
            let mut text = Vec::new();
            if entry.print(&mut text).is_ok() {
                assert!(text.starts_with(b"DN:") && text.ends_with(b"\n\n"));
            }
        }
    }
    if let Ok(filter) = wire::ldap::filter::parse(input) {
        assert!(
            matches!(wire::ldap::ber::first(&filter), Ok(Some((_, _, length))) if length == filter.len())
        );
    }
    if let Ok(search) = wire::ldap::Search::from_url(input) {
        let _ = search.request(1);
    }
}

/// Frames do not depend on the size of pieces or on the room for payload, and no piece is larger than either.
pub fn ws_frames(input: &[u8]) {
    let read = |step: usize, room: usize| {
        let (mut reader, mut frames) = (ws::Reader::default(), Vec::new());
        for mut piece in input.chunks(step) {
            while !piece.is_empty() {
                let step = match reader.next(piece, room) {
                    Ok(step) => step,
                    Err(fault) => {
                        frames.push((None, fault.to_string().into_bytes()));
                        return frames;
                    }
                };
                if let Some(found) = step.piece {
                    assert!(found.payload.end <= step.used && found.payload.len() <= room);
                    let payload = &piece[found.payload];
                    match frames.last_mut().filter(|_| found.offset > 0) {
                        Some((_, all)) => all.extend_from_slice(payload),
                        None => frames.push((Some((found.kind, found.last)), payload.to_vec())),
                    }
                }
                piece = &piece[step.used..];
            }
        }
        frames
    };
    let whole = read(input.len().max(1), usize::MAX);
    assert_eq!(whole, read(1, 1));
    assert_eq!(whole, read(7, 3));
}

/// A server's compressed messages: their contents do not depend on the size of pieces, and no more than a
/// slice of them is held.
pub fn ws_compressed(input: &[u8]) {
    let Some((way, input)) = input.split_first() else { return };
    let offer = ws::deflate::Offer { forgets: way & 1 != 0, window: 8 + (way >> 1 & 7) };
    if way & 16 != 0 {
        if let Ok(Some(agreed)) = offer.agree(input) {
            assert!((8..=offer.window).contains(&agreed.client_window));
            assert!(agreed.client_forgets || !offer.forgets);
        }
        return;
    }
    let agreed =
        ws::deflate::Agreed { server_forgets: offer.forgets, client_forgets: false, client_window: 15 };
    let read = |step: usize| {
        let (mut reader, mut inflater) = (ws::Reader::of_compressed(), ws::deflate::Inflater::new(agreed));
        let (mut messages, mut message) = (Vec::new(), Vec::new());
        for mut piece in input.chunks(step) {
            while !piece.is_empty() {
                let Ok(step) = reader.next(piece, usize::MAX) else { return (messages, message) };
                if let Some(found) = step.piece.filter(|found| found.compressed) {
                    inflater.feed(&piece[found.payload], found.last && found.left == 0);
                    loop {
                        match inflater.slice() {
                            Ok(Some(slice)) => {
                                assert!(slice.bytes.len() <= 16 * 1024);
                                message.extend(slice.bytes);
                                if slice.last {
                                    messages.push(std::mem::take(&mut message));
                                }
                            }
                            Ok(None) => break,
                            Err(_) => return (messages, message),
                        }
                    }
                }
                piece = &piece[step.used..];
            }
        }
        (messages, message)
    };
    let whole = read(input.len().max(1));
    let single = read(1);
    assert_eq!(whole.0, single.0);
}

/// A server's HTTP/3 streams with any bytes: a reply does not depend on the size of pieces, and no more of it
/// is held than a list of fields; the connection's control streams end in an error or continue.
pub fn h3_streams(input: &[u8]) {
    let Some((way, input)) = input.split_first() else { return };
    if way & 1 == 0 {
        let piece = [1, 3, 17, 100_000][usize::from(way >> 1 & 3)];
        let head_only = way & 8 != 0;
        assert_eq!(h3_reply(input, piece, head_only), h3_reply(input, input.len().max(1), head_only));
        return;
    }
    let mut control = wire::h3::Control::default();
    let mut streams: [wire::h3::Incoming; 4] = Default::default();
    for (turn, piece) in input.chunks(5).enumerate() {
        if streams[turn % 4].take(piece, &mut control).is_err() {
            return;
        }
    }
    let _ = streams.map(|stream| stream.end());
}

/// A proxy's stream of capsules, which does not depend on the size of pieces, and the contents of a QUIC
/// DATAGRAM. A payload of either that is written again is read as the same, and none is longer than UDP
/// allows.
pub fn capsules(input: &[u8]) {
    use wire::capsule::{self, Capsules};
    let taken = |bytes: &[u8], piece: usize| {
        let (mut capsules, mut payloads) = (Capsules::default(), Vec::new());
        for piece in bytes.chunks(piece) {
            capsules.take(piece, |payload| payloads.push(payload.to_vec()));
        }
        (payloads, capsules.is_between())
    };
    let whole = taken(input, input.len().max(1));
    for piece in [1, 3, 1000] {
        assert_eq!(taken(input, piece), whole, "in pieces of {piece}");
    }
    let (payloads, _) = whole;
    let mut again = Vec::new();
    for payload in &payloads {
        // The context before it may be written in up to eight octets.
        assert!(payload.len() < 65_527 + 8);
        capsule::write(&mut again, payload);
        let beside = capsule::on_quic(8, payload);
        assert_eq!(capsule::of_quic(8, &beside), Some(&payload[..]));
        assert_eq!(capsule::of_quic(4, &beside), None);
    }
    assert_eq!(taken(&again, again.len().max(1)), (payloads, true));
    let stream = input.first().map_or(0, |first| u64::from(first & 0x3f) * 4);
    if let Some(payload) = capsule::of_quic(stream, input) {
        assert!(input.ends_with(payload) && payload.len() + 2 <= input.len());
    }
}

/// The events as text.
fn h3_reply(bytes: &[u8], piece: usize, head_only: bool) -> String {
    use wire::h3::{Event, Reply};
    let mut reply = Reply::new(head_only);
    let (mut described, mut body) = (String::new(), 0);
    for mut input in bytes.chunks(piece) {
        loop {
            let (used, event) = match reply.next(input) {
                Ok(step) => (step.used, step.event),
                Err(failure) => return described + &format!("{body} {failure:?}"),
            };
            let list =
                |fields: &wire::h3::Fields| fields.iter().map(|f| format!("{f:?}")).collect::<String>();
            match event {
                None => break,
                Some(Event::Data(data)) => body += data.len(),
                Some(Event::Informational { status, fields }) => {
                    described += &format!("{status}?{}", list(fields))
                }
                Some(Event::Head { status, fields }) => described += &format!("{status}{}", list(fields)),
                Some(Event::Trailers(fields)) => described += &list(fields),
            }
            input = &input[used..];
        }
    }
    described + &format!("{body} {:?}", reply.end())
}
