//! CURLOPT_HTTPSIG_ALGORITHM: the Signature-Input and Signature fields of a request (RFC 9421). They are sent
//! only to the first origin, and not if the application sets them itself.

use tables::constant::{CURLAUTH_HTTPSIG, CURLHTTPSIG_HMAC_SHA256};
use tables::{Code, EasyOption as O};
use wire::auth::httpsig::{self, Algorithm};
use wire::{base64, hex};

use super::proof::Target;
use crate::error::{Error, Result};
use crate::stores::now;
use crate::transfer::Transfer;

fn wrong(text: impl Into<String>) -> Error {
    Error::new(Code::BadFunctionArgument, text.into())
}

/// The fields, if the request is to be signed.
pub fn fields(t: &Transfer, target: &Target<'_>, out: &mut Vec<u8>) -> Result<()> {
    let algorithm = match t.long(O::HttpSigAlgorithm) {
        0 => return Ok(()),
        CURLHTTPSIG_HMAC_SHA256 => Algorithm::HmacSha256,
        _ => Algorithm::Ed25519,
    };
    if t.other_origin || target.custom.names("Signature") || target.custom.names("Signature-Input") {
        return Ok(());
    }
    let settings = t.easy.settings.borrow();
    let (key, id) = (settings.text(O::HttpSigKey), settings.string(O::HttpSigKeyId));
    let (Some(key), Some(id)) = (key, id) else {
        return Err(wrong("httpsig: a key and its identifier are needed"));
    };
    let key = hex::decode(&key).ok_or_else(|| wrong("httpsig: the key is not hexadecimal"))?;
    let components = settings.string(O::HttpSigHeaders);
    let headers = target.custom.pairs();
    let request = httpsig::Request {
        method: target.method,
        authority: target.host,
        path: t.url.path(),
        query: t.url.query(),
        headers: &headers,
        components: components.as_deref(),
        key_id: &id,
        algorithm,
        created: now(),
    };
    let base = httpsig::base(&request).map_err(|e| match e {
        httpsig::Error::Unknown(name) => wrong(format!("httpsig: no component is called {name}")),
        httpsig::Error::Missing(name) => wrong(format!("httpsig: the request has no header {name}")),
        httpsig::Error::Twice(name) => wrong(format!("httpsig: {name} is there twice")),
        httpsig::Error::KeyId => wrong("httpsig: the key's identifier must be printable ASCII"),
    })?;
    let signature = match algorithm {
        Algorithm::HmacSha256 => httpsig::hmac(&key, &base.text).to_vec(),
        Algorithm::Ed25519 => net::tls::ed25519::sign(&key, &base.text)
            .ok_or_else(|| wrong("httpsig: an Ed25519 key has 32 bytes"))?,
    };
    t.easy.info.borrow_mut().rare.auth_used = CURLAUTH_HTTPSIG as i64;
    let (parameters, signature) = (base.parameters, base64::encode(&signature));
    out.extend_from_slice(
        format!("Signature-Input: sig1={parameters}\r\nSignature: sig1=:{signature}:\r\n").as_bytes(),
    );
    Ok(())
}
