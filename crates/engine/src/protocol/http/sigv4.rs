//! CURLOPT_AWS_SIGV4: the Authorization of a request that is signed for Amazon, with the fields that the
//! signature covers.

use tables::{Code, EasyOption as O};
use wire::auth::sigv4;

use super::proof::{Target, field};
use crate::error::{Error, Result};
use crate::stores::now;
use crate::transfer::Transfer;
use crate::transfer::client_reader::ClientReader;
use crate::transfer::login::Login;

/// Returns the fields if the request is to be signed; the application's own fields replace them.
pub fn fields(
    t: &Transfer,
    target: &Target<'_>,
    login: Option<&Login>,
    body: &ClientReader,
    out: &mut Vec<u8>,
) -> Result<()> {
    let (Some(login), false) = (login, target.custom.names("Authorization")) else { return Ok(()) };
    let parameters = t.easy.settings.borrow().string(O::AwsSigV4).unwrap_or_default();
    let payload = body.whole();
    let host_name = t.url.host_ascii().unwrap_or_default();
    let headers = target.custom.pairs();
    let request = sigv4::Request {
        parameters: &parameters,
        user: &login.user,
        secret: &login.password,
        method: target.method,
        host_name: &host_name,
        host: target.host,
        path: t.url.path(),
        query: t.url.query(),
        headers: &headers,
        payload: payload.as_deref().map_or(sigv4::Payload::Streamed, sigv4::Payload::Known),
        now: now(),
    };
    let signature = sigv4::sign(&request).map_err(|e| match e {
        sigv4::Error::BadParameters => Error::new(Code::BadFunctionArgument, "aws-sigv4: bad parameters"),
        sigv4::Error::NoService => {
            Error::new(Code::UrlMalformat, "aws-sigv4: service missing in parameters and hostname")
        }
        sigv4::Error::NoRegion => {
            Error::new(Code::UrlMalformat, "aws-sigv4: region missing in parameters and hostname")
        }
    })?;
    field(out, "Authorization", &signature.authorization);
    for (name, value) in &signature.headers {
        field(out, name, value);
    }
    Ok(())
}
