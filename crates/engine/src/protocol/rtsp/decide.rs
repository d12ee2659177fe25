//! Decisions of RTSP (RFC 2326): pure functions from facts to a verdict.

use tables::Code;
use wire::rtsp::{self, Method};

use crate::error::{Error, Result};
use crate::settings::Method as BodyMethod;

/// Decides where the body of a request comes from: from an upload, or from POST fields; there are no forms. A
/// body whose size is not known beforehand is none.
pub fn body_method(method: Method, uploads: bool, has_fields: bool, size: i64) -> BodyMethod {
    match (method.content_type(), uploads) {
        (None, _) => BodyMethod::Get,
        (Some(_), true) if size > 0 => BodyMethod::Put,
        (Some(_), false) if has_fields || size > 0 => BodyMethod::Post,
        (Some(_), _) => BodyMethod::Get,
    }
}

/// Returns whether a reply to the request has a body: DESCRIBE, and a GET_PARAMETER that asks for something.
pub fn has_answer(method: Method, has_body: bool) -> bool {
    method == Method::Describe || method == Method::GetParameter && has_body
}

/// A request, and the fields that the application adds.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Its method.
    pub method: Method,
    /// CURLOPT_RTSP_TRANSPORT, or a Transport field.
    pub has_transport: bool,
    /// There is a CSeq field.
    pub names_sequence: bool,
    /// There is a Session field.
    pub names_session: bool,
}

/// Fails on a request that is not sent, in curl's words.
pub fn check(f: &Request) -> Result<()> {
    let bad = |text| Err(Error::new(Code::BadFunctionArgument, text));
    if f.method == Method::Setup && !f.has_transport {
        return bad("Refusing to issue an RTSP SETUP without a Transport: header.");
    }
    if f.names_sequence {
        return Err(Error::new(Code::RtspCseqError, "CSeq cannot be set as a custom header."));
    }
    if f.names_session {
        return bad("Session ID cannot be set as a custom header.");
    }
    Ok(())
}

/// Reads the session of a reply. Returns it if the application has named none; fails if it is another one.
pub fn session<'a>(value: &'a [u8], known: Option<&[u8]>) -> Result<Option<&'a [u8]>> {
    let failed = |text: String| Err(Error::new(Code::RtspSessionError, text));
    let Some(id) = rtsp::session_id(value) else { return failed("Got a blank Session ID".to_owned()) };
    match known {
        None => Ok(Some(id)),
        Some(known) if known == id => Ok(None),
        Some(known) => {
            let [value, known] = [value, known].map(String::from_utf8_lossy);
            failed(format!("Got RTSP Session ID Line [{value}], but wanted ID [{known}]"))
        }
    }
}

/// Fails if a reply has another number than the request.
pub fn check_sequence(sent: i64, received: i64) -> Result<()> {
    match sent == received {
        true => Ok(()),
        false => {
            let text = format!("The CSeq of this request {sent} did not match the response {received}");
            Err(Error::new(Code::RtspCseqError, text))
        }
    }
}

/// Returns whether the request names a range (RFC 2326 §12.29). The others have no use for it.
pub fn takes_range(method: Method) -> bool {
    matches!(method, Method::Play | Method::Pause | Method::Record)
}

/// Returns whether the request may be conditional on a time.
pub fn takes_condition(method: Method) -> bool {
    matches!(method, Method::Setup | Method::Describe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_need_a_method_with_a_content_type_and_a_size() {
        let rows = [
            ("RFC 2326 §10.2: DESCRIBE has none", Method::Describe, true, true, 9, BodyMethod::Get),
            ("RFC 2326 §10.3: ANNOUNCE by upload", Method::Announce, true, false, 9, BodyMethod::Put),
            (
                "CURLOPT_INFILESIZE(3): an upload of unknown size",
                Method::Announce,
                true,
                true,
                -1,
                BodyMethod::Get,
            ),
            ("CURLOPT_POSTFIELDS(3)", Method::SetParameter, false, true, -1, BodyMethod::Post),
            (
                "CURLOPT_POSTFIELDSIZE(3): by the read callback",
                Method::GetParameter,
                false,
                false,
                9,
                BodyMethod::Post,
            ),
            ("RFC 2326 §10.8: a ping", Method::GetParameter, false, false, -1, BodyMethod::Get),
        ];
        for (name, method, uploads, fields, size, wanted) in rows {
            assert_eq!(body_method(method, uploads, fields, size), wanted, "{name}");
        }
    }

    #[test]
    fn replies_to_questions_have_bodies() {
        let rows = [
            ("RFC 2326 §10.2: DESCRIBE", Method::Describe, false, true),
            ("RFC 2326 §10.8: GET_PARAMETER", Method::GetParameter, true, true),
            ("RFC 2326 §10.8: as a ping", Method::GetParameter, false, false),
            ("RFC 2326 §10.5: PLAY", Method::Play, false, false),
            ("RFC 2326 §10.9: SET_PARAMETER", Method::SetParameter, true, false),
        ];
        for (name, method, has_body, wanted) in rows {
            assert_eq!(has_answer(method, has_body), wanted, "{name}");
        }
    }

    #[test]
    fn requests_that_are_not_sent() {
        let plain = Request {
            method: Method::Play,
            has_transport: false,
            names_sequence: false,
            names_session: false,
        };
        let setup = Request { method: Method::Setup, ..plain };
        let rows = [
            ("RFC 2326 §10.5: PLAY", plain, None),
            ("RFC 2326 §10.4: SETUP without Transport", setup, Some(Code::BadFunctionArgument)),
            ("CURLOPT_RTSP_TRANSPORT(3)", Request { has_transport: true, ..setup }, None),
            (
                "CURLOPT_RTSP_CLIENT_CSEQ(3): a field of the application",
                Request { names_sequence: true, ..plain },
                Some(Code::RtspCseqError),
            ),
            (
                "CURLOPT_RTSP_SESSION_ID(3): a field of the application",
                Request { names_session: true, ..plain },
                Some(Code::BadFunctionArgument),
            ),
        ];
        for (name, facts, wanted) in rows {
            assert_eq!(check(&facts).err().map(|e| e.code()), wanted, "{name}");
        }
    }

    #[test]
    fn a_session_is_taken_over_once_and_then_compared() {
        let failed = Err(Code::RtspSessionError);
        let rows: [(_, &[u8], Option<&[u8]>, Result<Option<&[u8]>, Code>); 6] = [
            ("RFC 2326 §12.37: the first", b"abc", None, Ok(Some(b"abc"))),
            ("RFC 2326 §12.37: with a timeout", b"abc;timeout=60", None, Ok(Some(b"abc"))),
            ("RFC 2326 §3.4: the same", b"abc", Some(b"abc"), Ok(None)),
            ("RFC 2326 §3.4: another", b"abd", Some(b"abc"), failed),
            ("RFC 2326 §3.4: one that begins alike", b"abcd", Some(b"abc"), failed),
            ("RFC 2326 §3.4: blank", b"", None, failed),
        ];
        for (name, value, known, wanted) in rows {
            assert_eq!(session(value, known).map_err(|e| e.code()), wanted, "{name}");
        }
    }

    #[test]
    fn replies_are_numbered_like_their_requests() {
        assert!(check_sequence(3, 3).is_ok(), "RFC 2326 §12.17");
        let failed = check_sequence(3, 2).unwrap_err();
        let text = "The CSeq of this request 3 did not match the response 2";
        assert_eq!((failed.code(), failed.message()), (Code::RtspCseqError, text), "RFC 2326 §12.17");
    }

    #[test]
    fn ranges_and_conditions_go_with_the_methods_that_know_them() {
        let rows = [
            ("RFC 2326 §10.4", Method::Setup, false, true),
            ("RFC 2326 §10.2", Method::Describe, false, true),
            ("RFC 2326 §10.5", Method::Play, true, false),
            ("RFC 2326 §10.6", Method::Pause, true, false),
            ("RFC 2326 §10.11", Method::Record, true, false),
            ("RFC 2326 §10.7", Method::Teardown, false, false),
        ];
        for (name, method, range, condition) in rows {
            assert_eq!((takes_range(method), takes_condition(method)), (range, condition), "{name}");
        }
    }
}
