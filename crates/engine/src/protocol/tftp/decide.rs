//! Decisions of TFTP (RFC 1350, 2347 to 2349): pure functions from facts to a verdict.

use std::time::Duration;

use tables::Code;
use wire::tftp::{self, BLOCKS, DEFAULT_BLOCK, Packet};

use crate::error::{Error, Result};

/// Time that a transfer without a limit is given, in milliseconds.
const USUAL_MS: i64 = 300_000;

/// Returns how long the server may take for an answer, and how many answers may be missed: about five seconds
/// each, but at least three and at most fifty in the time that there is. `limits` are
/// CURLOPT_CONNECTTIMEOUT_MS and CURLOPT_TIMEOUT_MS.
pub fn patience(limits: [i64; 2]) -> (Duration, u32) {
    let limits = limits.into_iter().filter(|ms| *ms > 0);
    let total_s = (limits.min().unwrap_or(USUAL_MS) + 500) / 1000;
    let tries = (total_s / 5).clamp(3, 50);
    (Duration::from_secs((total_s / tries).clamp(1, 255) as u64), tries as u32)
}

/// Returns the block size that is asked for. `option` is CURLOPT_TFTP_BLKSIZE.
pub fn wanted_block(option: i64) -> usize {
    match usize::try_from(option).unwrap_or(0) {
        0 => DEFAULT_BLOCK,
        size => size.clamp(*BLOCKS.start(), *BLOCKS.end()),
    }
}

/// Returns the options that a request names, unless CURLOPT_TFTP_NO_OPTIONS forbids them.
pub fn options(forbidden: bool, size: u64, block: usize, patience: Duration) -> Vec<(&'static str, u64)> {
    match forbidden {
        true => Vec::new(),
        false => vec![("tsize", size), ("blksize", block as u64), ("timeout", patience.as_secs())],
    }
}

/// The server's answer to the options that we use; an inner `None` is no number.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Agreed {
    /// blksize.
    pub block: Option<Option<u64>>,
    /// tsize.
    pub size: Option<Option<u64>>,
}

impl Agreed {
    /// Reads the options of an OACK (RFC 2347). Names are compared without regard to case; unknown ones are
    /// ignored.
    pub fn of(options: &[(&[u8], &[u8])]) -> Agreed {
        let mut agreed = Agreed::default();
        for (name, value) in options {
            if name.eq_ignore_ascii_case(b"blksize") {
                agreed.block = Some(tftp::value(value));
            } else if name.eq_ignore_ascii_case(b"tsize") {
                agreed.size = Some(tftp::value(value));
            }
        }
        agreed
    }

    /// Returns the block size that is agreed on: the server may lower the one that was asked for (RFC 2348),
    /// or say nothing.
    pub fn block(&self, wanted: usize) -> Result<usize> {
        let illegal = |text| Err(Error::new(Code::TftpIllegal, text));
        let Some(size) = &self.block else { return Ok(DEFAULT_BLOCK) };
        match size.and_then(|n| usize::try_from(n).ok()) {
            None => illegal("invalid blocksize value in OACK packet"),
            Some(0) => illegal("blksize is zero in OACK"),
            Some(n) if n > *BLOCKS.end() => illegal("blksize is larger than max supported"),
            Some(n) if n < *BLOCKS.start() => illegal("blksize is smaller than min supported"),
            Some(n) if n > wanted => illegal("server requested blksize larger than allocated"),
            Some(n) => Ok(n),
        }
    }

    /// Returns the size of the file, where the server says one (RFC 2349).
    pub fn size(&self) -> Result<Option<u64>> {
        match self.size {
            Some(None) => Err(Error::new(Code::TftpIllegal, "invalid tsize -:value in OACK packet")),
            Some(size) => Ok(size.filter(|n| *n > 0)),
            None => Ok(None),
        }
    }
}

/// The first answer to a request.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    /// A block.
    Data,
    /// An acknowledgement.
    Ack(u16),
    /// Options.
    Options(Agreed),
}

impl Answer {
    /// Reads a packet as an answer.
    pub fn of(packet: Packet<'_>) -> Answer {
        match packet {
            Packet::Ack { block } => Answer::Ack(block),
            Packet::Options(options) => Answer::Options(Agreed::of(&options)),
            Packet::Data { .. } | Packet::Error { .. } => Answer::Data,
        }
    }
}

/// Returns whether a packet acknowledges the block that was sent last. One that came twice is passed over: to
/// answer it once more would double everything that follows (RFC 1123 §4.2.3.1).
pub fn is_acknowledged(packet: &Packet<'_>, block: u16) -> Result<bool> {
    match packet {
        Packet::Ack { block: number } => Ok(*number == block),
        Packet::Options(_) => Ok(false),
        Packet::Data { .. } | Packet::Error { .. } => Err(unexpected()),
    }
}

/// The step after a block has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    /// The next one: its bytes are handed out.
    Next {
        /// Shorter than a whole block: no other follows.
        last: bool,
    },
    /// The one before: our acknowledgement was lost.
    Repeated,
    /// An older one, which has been answered.
    Stale,
}

/// Decides about a block. `before` is the number of the one before it, which wraps round.
pub fn received(number: u16, before: u16, length: usize, block: usize) -> Result<Block> {
    if length > block {
        return Err(Error::new(Code::TftpIllegal, "a block is longer than agreed on"));
    }
    Ok(match number {
        _ if number == before.wrapping_add(1) => Block::Next { last: length < block },
        _ if number == before => Block::Repeated,
        _ => Block::Stale,
    })
}

/// Returns curl's code for an error number of RFC 1350. The server's text is no part of the message: programs
/// match the code's own.
pub fn refusal(code: u16) -> Error {
    Error::from(match code {
        0 | 4 => Code::TftpIllegal,
        1 => Code::TftpNotfound,
        2 => Code::TftpPerm,
        3 => Code::RemoteDiskFull,
        5 => Code::TftpUnknownid,
        6 => Code::RemoteFileExists,
        7 => Code::TftpNosuchuser,
        8.. => Code::AbortedByCallback,
    })
}

/// Returns a server's text without control characters.
pub fn shown(text: &[u8]) -> String {
    String::from_utf8_lossy(text).chars().filter(|letter| !letter.is_control()).collect()
}

/// Creates the error for a packet that nobody waits for.
pub fn unexpected() -> Error {
    Error::new(Code::TftpIllegal, "TFTP: a packet that makes no sense here")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_that_there_is_is_divided_among_tries() {
        let rows = [
            ("CURLOPT_TIMEOUT(3): none", [0, 0], (6, 50)),
            ("CURLOPT_TIMEOUT(3): a minute", [0, 60_000], (5, 12)),
            ("CURLOPT_CONNECTTIMEOUT(3): the smaller counts", [15_000, 60_000], (5, 3)),
            ("CURLOPT_TIMEOUT(3): a second", [0, 1000], (1, 3)),
            ("CURLOPT_TIMEOUT(3): an hour", [0, 3_600_000], (72, 50)),
            ("RFC 2349: the option has at most 255", [0, 86_400_000], (255, 50)),
            ("CURLOPT_TIMEOUT_MS(3): half a second is rounded up", [0, 15_500], (5, 3)),
        ];
        for (name, limits, (seconds, tries)) in rows {
            assert_eq!(patience(limits), (Duration::from_secs(seconds), tries), "{name}");
        }
    }

    #[test]
    fn block_sizes_are_held_within_bounds() {
        let rows = [
            ("RFC 1350 §2: 512 unless asked", 0, DEFAULT_BLOCK),
            ("CURLOPT_TFTP_BLKSIZE(3)", 1024, 1024),
            ("RFC 2348: at least 8", 7, 8),
            ("RFC 2348: at most 65464", 65_465, 65_464),
            ("CURLOPT_TFTP_BLKSIZE(3): a number that is none", -1, DEFAULT_BLOCK),
        ];
        for (name, option, wanted) in rows {
            assert_eq!(wanted_block(option), wanted, "{name}");
        }
    }

    #[test]
    fn requests_name_three_options_unless_forbidden() {
        let named = options(false, 7, 1024, Duration::from_secs(6));
        assert_eq!(named, [("tsize", 7), ("blksize", 1024), ("timeout", 6)], "RFC 2348 and 2349");
        assert_eq!(options(true, 7, 1024, Duration::from_secs(6)), [], "CURLOPT_TFTP_NO_OPTIONS(3)");
    }

    #[test]
    fn a_server_may_lower_the_block_size() {
        let illegal = Err(Code::TftpIllegal);
        let rows: [(_, Option<&[u8]>, _); 9] = [
            ("RFC 2347: not answered", None, Ok(512)),
            ("RFC 2348: as asked", Some(b"1024"), Ok(1024)),
            ("RFC 2348: lower", Some(b"600"), Ok(600)),
            ("RFC 2348: higher", Some(b"1025"), illegal),
            ("RFC 2348: zero", Some(b"0"), illegal),
            ("RFC 2348: less than 8", Some(b"7"), illegal),
            ("RFC 2348: more than 65464", Some(b"65465"), illegal),
            ("RFC 2348: no number", Some(b"x"), illegal),
            ("RFC 2348: a number that fits nothing", Some(b"99999999999999999999"), illegal),
        ];
        for (name, value, wanted) in rows {
            let options: Vec<(&[u8], &[u8])> =
                value.into_iter().map(|value| (&b"BlkSize"[..], value)).collect();
            assert_eq!(Agreed::of(&options).block(1024).map_err(|e| e.code()), wanted, "{name}");
        }
    }

    #[test]
    fn tsize_announces_the_size_of_a_file() {
        let rows: [(_, &[u8], &[u8], _); 4] = [
            ("RFC 2349: tsize", b"tsize", b"99", Ok(Some(99))),
            ("RFC 2349: 0 is not known", b"TSIZE", b"0", Ok(None)),
            ("RFC 2349: no number", b"tsize", b"many", Err(Code::TftpIllegal)),
            ("RFC 2347: an option that nobody asked for", b"windowsize", b"9", Ok(None)),
        ];
        for (name, option, value, wanted) in rows {
            assert_eq!(Agreed::of(&[(option, value)]).size().map_err(|e| e.code()), wanted, "{name}");
        }
    }

    #[test]
    fn first_answers() {
        let rows = [
            ("RFC 1350 §4: a block", Packet::Data { block: 1, bytes: b"x" }, Answer::Data),
            ("RFC 1350 §4: an acknowledgement", Packet::Ack { block: 0 }, Answer::Ack(0)),
            (
                "RFC 2347: options",
                Packet::Options(vec![(b"tsize", b"9")]),
                Answer::Options(Agreed { block: None, size: Some(Some(9)) }),
            ),
        ];
        for (name, packet, wanted) in rows {
            assert_eq!(Answer::of(packet), wanted, "{name}");
        }
    }

    #[test]
    fn acknowledgements_that_come_twice_are_passed_over() {
        let rows = [
            ("RFC 1350 §2: the block", Packet::Ack { block: 7 }, Ok(true)),
            ("RFC 1123 §4.2.3.1: the one before", Packet::Ack { block: 6 }, Ok(false)),
            ("RFC 2347: the options once more", Packet::Options(Vec::new()), Ok(false)),
            ("RFC 1350 §4: a block is none", Packet::Data { block: 7, bytes: b"" }, Err(Code::TftpIllegal)),
        ];
        for (name, packet, wanted) in rows {
            assert_eq!(is_acknowledged(&packet, 7).map_err(|e| e.code()), wanted, "{name}");
        }
    }

    #[test]
    fn blocks_come_in_order_and_wrap_round() {
        let next = |last| Ok(Block::Next { last });
        let rows = [
            ("RFC 1350 §2: the next", 8, 7, 512, next(false)),
            ("RFC 1350 §6: a short one is the last", 8, 7, 511, next(true)),
            ("RFC 1350 §6: an empty one, too", 8, 7, 0, next(true)),
            ("RFC 1350 §2: our acknowledgement was lost", 7, 7, 512, Ok(Block::Repeated)),
            ("RFC 1123 §4.2.3.1: an older one", 6, 7, 512, Ok(Block::Stale)),
            ("RFC 1350 §2: one was skipped", 9, 7, 512, Ok(Block::Stale)),
            ("RFC 1350 §5: after 65535 comes 0", 0, 65_535, 512, next(false)),
            ("RFC 2348: longer than agreed on", 8, 7, 513, Err(Code::TftpIllegal)),
        ];
        for (name, number, before, length, wanted) in rows {
            assert_eq!(received(number, before, length, 512).map_err(|e| e.code()), wanted, "{name}");
        }
    }

    #[test]
    fn error_numbers_have_codes_of_their_own() {
        let rows = [
            ("RFC 1350 app. I: not defined", 0, Code::TftpIllegal),
            ("RFC 1350 app. I: not found", 1, Code::TftpNotfound),
            ("RFC 1350 app. I: access violation", 2, Code::TftpPerm),
            ("RFC 1350 app. I: disk full", 3, Code::RemoteDiskFull),
            ("RFC 1350 app. I: illegal operation", 4, Code::TftpIllegal),
            ("RFC 1350 app. I: unknown transfer ID", 5, Code::TftpUnknownid),
            ("RFC 1350 app. I: file exists", 6, Code::RemoteFileExists),
            ("RFC 1350 app. I: no such user", 7, Code::TftpNosuchuser),
            ("RFC 2347: refused options, as in curl", 8, Code::AbortedByCallback),
        ];
        for (name, number, wanted) in rows {
            assert_eq!(refusal(number).code(), wanted, "{name}");
        }
        assert_eq!(shown(b"no\x1b[2Jsuch\nfile"), "no[2Jsuchfile", "a terminal is not commanded");
    }
}
