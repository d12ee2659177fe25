//! Requests to an agent (draft-ietf-sshm-ssh-agent): its keys, and a signature. Each message is preceded by
//! its length.

use crate::auth::{AgentKey, SignRequest};
use crate::bytes::{Put, Reader};
use crate::error::Error;

const REQUEST_IDENTITIES: u8 = 11;
const IDENTITIES: u8 = 12;
const SIGN_REQUEST: u8 = 13;
const SIGN_RESPONSE: u8 = 14;
/// The longest answer that is taken, as in OpenSSH.
pub const MAX_ANSWER: usize = 256 << 10;

/// Asks for all keys.
pub fn ask_keys() -> Vec<u8> {
    framed(&[REQUEST_IDENTITIES])
}

/// Asks for a signature.
pub fn ask_signature(request: &SignRequest) -> Vec<u8> {
    let mut message = vec![SIGN_REQUEST];
    message.put_string(&request.blob);
    message.put_string(&request.data);
    message.put_u32(request.flags);
    framed(&message)
}

/// How long an answer is in all, once its first four bytes are there.
pub fn size(bytes: &[u8]) -> Result<Option<usize>, Error> {
    let Ok(length) = Reader::new(bytes).u32() else { return Ok(None) };
    match length as usize {
        length @ 1..=MAX_ANSWER => Ok(Some(length + 4)),
        _ => Err(Error::Malformed),
    }
}

/// Its keys; none when it refuses.
pub fn keys(answer: &[u8]) -> Result<Vec<AgentKey>, Error> {
    let mut reader = Reader::new(answer.get(4..).ok_or(Error::Malformed)?);
    if reader.u8()? != IDENTITIES {
        return Ok(Vec::new());
    }
    let mut keys = Vec::new();
    for _ in 0..reader.u32()? {
        keys.push(AgentKey { blob: reader.string()?.to_vec() });
        reader.string()?; // a comment
    }
    Ok(keys)
}

/// Its signature; none when it refuses.
pub fn signature(answer: &[u8]) -> Result<Option<Vec<u8>>, Error> {
    let mut reader = Reader::new(answer.get(4..).ok_or(Error::Malformed)?);
    match reader.u8()? {
        SIGN_RESPONSE => Ok(Some(reader.string()?.to_vec())),
        _ => Ok(None),
    }
}

fn framed(message: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(message.len() + 4);
    out.put_string(message);
    out
}
