//! Decisions that IMAP, POP3 and SMTP share: pure functions from facts to a verdict.

use tables::Code;
use wire::escape::{self, Reject};

use crate::error::{Error, Result};
use crate::settings::Method;

/// Decodes a text that becomes part of a command. Fails on control characters: a line break would begin
/// another command.
pub fn decode(text: &[u8]) -> Result<Vec<u8>> {
    escape::decode(text, Reject::Control).map_err(|_| Error::from(Code::UrlMalformat))
}

/// Returns the application's own command (CURLOPT_CUSTOMREQUEST(3)). An empty one counts as not set.
pub fn own_command(given: Option<&[u8]>) -> Result<Option<Vec<u8>>> {
    Ok(given.map(decode).transpose()?.filter(|own| !own.is_empty()))
}

/// Returns whether the application sends a message.
pub fn sends_message(upload: bool, method: Method) -> bool {
    upload || matches!(method, Method::Put | Method::PostMime)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_commands_are_decoded() {
        let own = |text: &[u8]| own_command(Some(text)).map_err(|e| e.code());
        assert_eq!(own(b"EXPN%20x"), Ok(Some(b"EXPN x".to_vec())), "CURLOPT_CUSTOMREQUEST(3)");
        assert_eq!(own(b""), Ok(None), "CURLOPT_CUSTOMREQUEST(3): empty");
        assert_eq!(own(b"NOOP%0a"), Err(Code::UrlMalformat), "RFC 5321 §2.3.8: a line break");
        assert_eq!(own_command(None).map_err(|e| e.code()), Ok(None), "CURLOPT_CUSTOMREQUEST(3): not set");
    }

    #[test]
    fn uploads_and_forms_are_messages() {
        let rows = [
            ("CURLOPT_UPLOAD(3)", true, Method::Get, true),
            ("CURLOPT_UPLOAD(3): by its method", false, Method::Put, true),
            ("CURLOPT_MIMEPOST(3)", false, Method::PostMime, true),
            ("RFC 5092 §6: a fetch", false, Method::Get, false),
            ("CURLOPT_POSTFIELDS(3): no message", false, Method::Post, false),
        ];
        for (name, upload, method, wanted) in rows {
            assert_eq!(sends_message(upload, method), wanted, "{name}");
        }
    }
}
