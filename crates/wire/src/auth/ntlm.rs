//! NTLM ([MS-NLMP]): messages 1 and 3, and the fields of message 2 that they need. As in curl, responses have
//! version 2 if the server describes its target, otherwise version 1.

use super::hash::{des, hmac_md5, md4};
use crate::base64;

const SIGNATURE: &[u8; 8] = b"NTLMSSP\0";
const NEGOTIATE_UNICODE: u32 = 1 << 0;
const NEGOTIATE_OEM: u32 = 1 << 1;
const REQUEST_TARGET: u32 = 1 << 2;
const NEGOTIATE_NTLM: u32 = 1 << 9;
const NEGOTIATE_ALWAYS_SIGN: u32 = 1 << 15;
const NEGOTIATE_NTLM2: u32 = 1 << 19;
const NEGOTIATE_TARGET_INFO: u32 = 1 << 23;
/// Of message 3: eight octets of signature, six security buffers, type and flags.
const HEADER_LENGTH: usize = 64;
/// A longer message 2 is refused.
const MESSAGE_LIMIT: usize = 64 * 1024;
/// Largest message 3 in curl (NTLM_BUFSIZE).
const OUTPUT_LIMIT: usize = 1024;
/// Seconds from 1601 to 1970.
const EPOCH_DIFFERENCE_S: i64 = 11_644_473_600;

/// The fields of the server's message 2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message2 {
    flags: u32,
    challenge: [u8; 8],
    target_info: Vec<u8>,
}

/// The message is too short, too long, or of another type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// Message 3 would be longer than curl's, which servers are known to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooBig {
    /// The response is too long because it repeats the server's target description.
    Response,
    /// Because of the names.
    Names,
}

/// The login.
#[derive(Clone, Copy, Debug)]
pub struct Credentials<'a> {
    /// `user`, `DOMAIN\user` or `DOMAIN/user`.
    pub user: &'a [u8],
    pub password: &'a [u8],
    /// The name of this machine, curl says "WORKSTATION".
    pub workstation: &'a [u8],
}

/// Returns message 1 in base64. It contains nothing about the user.
pub fn message1() -> String {
    let flags = NEGOTIATE_OEM | REQUEST_TARGET | NEGOTIATE_NTLM | NEGOTIATE_NTLM2 | NEGOTIATE_ALWAYS_SIGN;
    let mut message = [0; 32];
    message[..8].copy_from_slice(SIGNATURE);
    message[8] = 1;
    message[12..16].copy_from_slice(&flags.to_le_bytes());
    base64::encode(&message)
}

impl Message2 {
    /// Parses the text after "NTLM " in the challenge.
    pub fn parse(encoded: &[u8]) -> Result<Message2, Malformed> {
        if encoded.len() > MESSAGE_LIMIT {
            return Err(Malformed);
        }
        let message = base64::decode(encoded).ok_or(Malformed)?;
        if !message.starts_with(SIGNATURE) || message.get(8..12) != Some(&[2, 0, 0, 0]) {
            return Err(Malformed);
        }
        let flags = message.get(20..24).ok_or(Malformed)?;
        let flags = u32::from_le_bytes(flags.try_into().map_err(|_| Malformed)?);
        let challenge = message.get(24..32).ok_or(Malformed)?.try_into().map_err(|_| Malformed)?;
        let target_info =
            if flags & NEGOTIATE_TARGET_INFO != 0 { target_info(&message)? } else { Vec::new() };
        Ok(Message2 { flags, challenge, target_info })
    }

    /// Message 3 in base64. `nonce` is random, `now` in seconds since 1970.
    pub fn answer(&self, who: Credentials<'_>, nonce: [u8; 8], now: i64) -> Result<String, TooBig> {
        let split = who.user.iter().position(|octet| matches!(octet, b'\\' | b'/'));
        let (domain, user) = match split {
            Some(at) => (&who.user[..at], &who.user[at + 1..]),
            None => (&b""[..], who.user),
        };
        let nt_hash = md4(&utf16(who.password));
        let (lm_response, nt_response, flags) = if self.target_info.is_empty() {
            let lm = des_response(&lm_hash(who.password), &self.challenge).to_vec();
            let nt = des_response(&nt_hash, &self.challenge).to_vec();
            (lm, nt, self.flags & !NEGOTIATE_NTLM2)
        } else {
            let key = hmac_md5(&nt_hash, &[&utf16(&uppercase(user)), &utf16(domain)]);
            let lm = [&hmac_md5(&key, &[&self.challenge, &nonce])[..], &nonce].concat();
            (lm, self.version2_response(&key, nonce, now), self.flags)
        };
        let is_unicode = self.flags & NEGOTIATE_UNICODE != 0;
        let text = |value: &[u8]| if is_unicode { utf16(value) } else { value.to_vec() };
        let payload = [lm_response, nt_response, text(domain), text(user), text(who.workstation)];
        message3(&payload, flags)
    }

    /// [MS-NLMP] section 3.3.2.
    fn version2_response(&self, key: &[u8; 16], nonce: [u8; 8], now: i64) -> Vec<u8> {
        let ticks = now.saturating_add(EPOCH_DIFFERENCE_S).saturating_mul(10_000_000);
        let blob = [
            &[1, 1, 0, 0, 0, 0, 0, 0][..],
            &ticks.to_le_bytes(),
            &nonce,
            &[0; 4],
            &self.target_info,
            &[0; 4],
        ]
        .concat();
        [&hmac_md5(key, &[&self.challenge, &blob])[..], &blob].concat()
    }
}

/// Writes the payload fields in order; the buffers that point to them follow the same order.
fn message3(payload: &[Vec<u8>; 5], flags: u32) -> Result<String, TooBig> {
    let [lm, nt, names @ ..] = payload;
    let responses = HEADER_LENGTH + lm.len() + nt.len();
    if responses > OUTPUT_LIMIT {
        return Err(TooBig::Response);
    }
    if responses + names.iter().map(Vec::len).sum::<usize>() >= OUTPUT_LIMIT {
        return Err(TooBig::Names);
    }
    let mut message = SIGNATURE.to_vec();
    message.extend_from_slice(&[3, 0, 0, 0]);
    let mut offset = HEADER_LENGTH;
    for part in payload {
        let length = (part.len() as u16).to_le_bytes();
        message.extend_from_slice(&[length, length].concat());
        message.extend_from_slice(&(offset as u32).to_le_bytes());
        offset += part.len();
    }
    message.extend_from_slice(&[0; 8]); // no session key
    message.extend_from_slice(&flags.to_le_bytes());
    message.extend_from_slice(&payload.concat());
    Ok(base64::encode(&message))
}

/// The target information, which must lie behind the header.
fn target_info(message: &[u8]) -> Result<Vec<u8>, Malformed> {
    let Some(&[low, high, _, _, a, b, c, d]) = message.get(40..48) else { return Ok(Vec::new()) };
    let (length, offset) =
        (usize::from(u16::from_le_bytes([low, high])), u32::from_le_bytes([a, b, c, d]) as usize);
    if length == 0 {
        return Ok(Vec::new());
    }
    if offset < 48 {
        return Err(Malformed);
    }
    offset.checked_add(length).and_then(|end| message.get(offset..end)).map(<[u8]>::to_vec).ok_or(Malformed)
}

/// The LAN Manager hash knows 14 characters of the password, in upper case.
fn lm_hash(password: &[u8]) -> [u8; 16] {
    let mut padded = [0; 14];
    for (target, source) in padded.iter_mut().zip(password) {
        *target = source.to_ascii_uppercase();
    }
    let mut hash = [0; 16];
    for (half, out) in padded.chunks_exact(7).zip(hash.chunks_exact_mut(8)) {
        let key = half.try_into().expect("chunks of seven");
        out.copy_from_slice(&des(key, b"KGS!@#$%"));
    }
    hash
}

/// The challenge under three keys made from the hash.
fn des_response(hash: &[u8; 16], challenge: &[u8; 8]) -> [u8; 24] {
    let mut keys = [0; 21];
    keys[..16].copy_from_slice(hash);
    let mut response = [0; 24];
    for (key, out) in keys.chunks_exact(7).zip(response.chunks_exact_mut(8)) {
        out.copy_from_slice(&des(key.try_into().expect("chunks of seven"), challenge));
    }
    response
}

fn uppercase(text: &[u8]) -> Vec<u8> {
    match std::str::from_utf8(text) {
        Ok(text) => text.to_uppercase().into_bytes(),
        Err(_) => text.to_ascii_uppercase(),
    }
}

/// Encodes text in little-endian UTF-16. Invalid UTF-8 is converted octet by octet.
fn utf16(text: &[u8]) -> Vec<u8> {
    match std::str::from_utf8(text) {
        Ok(text) => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        Err(_) => text.iter().flat_map(|&octet| [octet, 0]).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hex;

    const CHALLENGE: [u8; 8] = [0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef];

    #[test]
    fn hashes_of_the_specification() {
        // [MS-NLMP] section 4.2.2
        assert_eq!(hex::encode(&lm_hash(b"Password")), "e52cac67419a9a224a3b108f3fa6cb6d");
        let nt_hash = md4(&utf16(b"Password"));
        assert_eq!(hex::encode(&nt_hash), "a4f49c406510bdcab6824ee7c30fd852");
        assert_eq!(
            hex::encode(&des_response(&nt_hash, &CHALLENGE)),
            "67c43011f30298a2ad35ece64f16331c44bdbed927841f94"
        );
        // section 4.2.4.1.1
        let key = hmac_md5(&nt_hash, &[&utf16(&uppercase(b"User")), &utf16(b"Domain")]);
        assert_eq!(hex::encode(&key), "0c868a403bfd7a93a3001ef22ef02e3f");
        // section 4.2.4.2.1
        let lm = hmac_md5(&key, &[&CHALLENGE, &[0xaa; 8]]);
        assert_eq!(hex::encode(&lm), "86c35097ac9cec102554764a57cccc19");
    }

    #[test]
    fn version2_response_of_the_specification() {
        // section 4.2.4.2.2, with time 0
        let target_info = "02000c0044006f006d00610069006e0001000c00530065007200760065007200\
                           00000000";
        let message = Message2 {
            flags: 0,
            challenge: CHALLENGE,
            target_info: hex::decode(target_info.as_bytes()).unwrap(),
        };
        let key = hex::decode(b"0c868a403bfd7a93a3001ef22ef02e3f").unwrap().try_into().unwrap();
        let response = message.version2_response(&key, [0xaa; 8], -EPOCH_DIFFERENCE_S);
        assert_eq!(hex::encode(&response[..16]), "68cd0ab851e51c96aabc927bebef6a1c");
    }

    #[test]
    fn first_message() {
        assert_eq!(message1(), "TlRMTVNTUAABAAAABoIIAAAAAAAAAAAAAAAAAAAAAAA=");
    }

    fn message2(flags: u32, tail: &[u8]) -> Vec<u8> {
        let mut message =
            [SIGNATURE, &[2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0][..], &flags.to_le_bytes(), &CHALLENGE].concat();
        message.extend_from_slice(&[0; 8]);
        message.extend_from_slice(tail);
        base64::encode(&message).into_bytes()
    }

    #[test]
    fn third_message() {
        let who = Credentials { user: b"DOM\\user", password: b"pass", workstation: b"WS" };
        let flags = NEGOTIATE_UNICODE | NEGOTIATE_NTLM2;
        let answer = Message2::parse(&message2(flags, b"")).unwrap().answer(who, [1; 8], 0).unwrap();
        let message = base64::decode(answer.as_bytes()).unwrap();
        let buffer = |at: usize| {
            let length = usize::from(u16::from_le_bytes([message[at], message[at + 1]]));
            let offset = usize::from(message[at + 4]);
            message[offset..offset + length].to_vec()
        };
        assert_eq!(buffer(12).len(), 24);
        assert_eq!(buffer(20).len(), 24);
        assert_eq!(buffer(28), utf16(b"DOM"));
        assert_eq!(buffer(36), utf16(b"user"));
        assert_eq!(buffer(44), utf16(b"WS"));
        assert_eq!(message[60..64], NEGOTIATE_UNICODE.to_le_bytes());
        let with_target = message2(NEGOTIATE_TARGET_INFO, &[4, 0, 4, 0, 48, 0, 0, 0, 0, 0, 0, 0]);
        let answer = Message2::parse(&with_target).unwrap().answer(who, [1; 8], 0).unwrap();
        assert_eq!(base64::decode(answer.as_bytes()).unwrap()[20..22], [52, 0]);
    }

    /// The reply of curl 8.22 to the same message.
    #[test]
    fn third_message_of_version1() {
        let second = b"TlRMTVNTUAACAAAAAgACADAAAACGggEAc51AYVDgyNcAAAAAAAAAAG4AbgAyAAAAQ0MCAAQAQwBDAAEAEgBFAEwASQBTAEEA\
                       QgBFAFQASAAEABgAYwBjAC4AaQBjAGUAZABlAHYALgBuAHUAAwAsAGUAbABpAHMAYQBiAGUAdABoAC4AYwBjAC4AaQBjAGUA\
                       ZABlAHYALgBuAHUAAAAAAA==";
        let who = Credentials { user: b"testuser", password: b"testpass", workstation: b"WORKSTATION" };
        let wanted = "TlRMTVNTUAADAAAAGAAYAEAAAAAYABgAWAAAAAAAAABwAAAACAAIAHAAAAALAAsAeAAAAAAAAAAAAAAAhoIBAFpkQwKR\
                      CZFMhjj0tw47wEjKHRHlvzfxQamFcheMuv8v+xeqphEO5V41xRd7R9deOXRlc3R1c2VyV09SS1NUQVRJT04=";
        assert_eq!(Message2::parse(second).unwrap().answer(who, [0; 8], 0).as_deref(), Ok(wanted));
    }

    /// The sizes at which curl's buffer ends: the responses may fill it, the names must leave one octet free.
    #[test]
    fn third_messages_that_are_too_big() {
        let answered = |target_info: usize, user: usize, flags: u32| {
            let second = Message2 { flags, challenge: CHALLENGE, target_info: vec![0; target_info] };
            let user = vec![b'u'; user];
            let who = Credentials { user: &user, password: b"p", workstation: b"WORKSTATION" };
            second.answer(who, [0; 8], 0).map(|message| base64::decode(message.as_bytes()).unwrap().len())
        };
        assert_eq!(answered(0, 900, 0), Ok(1023));
        assert_eq!(answered(0, 901, 0), Err(TooBig::Names));
        assert_eq!(answered(0, 444, NEGOTIATE_UNICODE), Ok(1022));
        assert_eq!(answered(0, 445, NEGOTIATE_UNICODE), Err(TooBig::Names));
        assert_eq!(answered(876, 0, 0), Ok(1023));
        assert_eq!(answered(888, 0, 0), Err(TooBig::Names));
        assert_eq!(answered(889, 0, 0), Err(TooBig::Response));
    }

    #[test]
    fn malformed_second_messages() {
        let cut = message2(0, b"");
        let bad_offset = message2(NEGOTIATE_TARGET_INFO, &[4, 0, 4, 0, 47, 0, 0, 0, 0, 0, 0, 0]);
        let too_long = message2(NEGOTIATE_TARGET_INFO, &[5, 0, 5, 0, 48, 0, 0, 0, 0, 0, 0, 0]);
        let far_away = message2(NEGOTIATE_TARGET_INFO, &[5, 0, 5, 0, 255, 255, 255, 255]);
        for encoded in [&b""[..], b"!", b"TlRMTVNTUAAB", &cut[..40], &bad_offset, &too_long, &far_away] {
            assert_eq!(Message2::parse(encoded), Err(Malformed), "{encoded:?}");
        }
    }
}
