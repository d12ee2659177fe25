//! Decisions about TLS within a mail protocol (CURLOPT_USE_SSL(3), RFC 8314): whether it is started, and the
//! meaning of a refusal.

use tables::Code;
use tables::constant::CURLUSESSL_TRY;

use crate::error::{Error, Result};

/// The step before a login in clear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// None: the connection stays as it is.
    Skip,
    /// Request TLS from the server.
    Ask,
    /// TLS is demanded, and the server does not offer it.
    Fail,
}

/// Decides whether to request TLS from the server. `wanted` is CURLOPT_USE_SSL.
pub fn start(wanted: i64, protected: bool, offered: bool) -> Start {
    match wanted > 0 && !protected {
        false => Start::Skip,
        true if offered => Start::Ask,
        true if is_demanded(wanted) => Start::Fail,
        true => Start::Skip,
    }
}

/// Returns whether the transfer fails without TLS.
pub fn is_demanded(wanted: i64) -> bool {
    wanted > CURLUSESSL_TRY
}

/// Returns whether TLS follows the server's answer to STARTTLS or STLS. Fails with `text` if the server
/// refuses what is demanded.
pub fn follows(wanted: i64, agreed: bool, text: impl FnOnce() -> String) -> Result<bool> {
    match agreed {
        true => Ok(true),
        false if is_demanded(wanted) => Err(Error::new(Code::UseSslFailed, text())),
        false => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: i64 = 0;
    const TRY: i64 = 1;
    const CONTROL: i64 = 2;
    const ALL: i64 = 3;

    #[test]
    fn beginning() {
        let rows = [
            ("CURLOPT_USE_SSL(3): CURLUSESSL_NONE", NONE, false, true, Start::Skip),
            ("CURLOPT_USE_SSL(3): CURLUSESSL_TRY, offered", TRY, false, true, Start::Ask),
            ("CURLOPT_USE_SSL(3): CURLUSESSL_TRY, not offered", TRY, false, false, Start::Skip),
            ("CURLOPT_USE_SSL(3): CURLUSESSL_CONTROL, not offered", CONTROL, false, false, Start::Fail),
            ("CURLOPT_USE_SSL(3): CURLUSESSL_ALL, offered", ALL, false, true, Start::Ask),
            ("CURLOPT_USE_SSL(3): CURLUSESSL_ALL, not offered", ALL, false, false, Start::Fail),
            ("RFC 8314 §3: TLS from the first byte on", ALL, true, true, Start::Skip),
            ("RFC 8314 §3: there is no second TLS in it", ALL, true, false, Start::Skip),
        ];
        for (name, wanted, protected, offered, verdict) in rows {
            assert_eq!(start(wanted, protected, offered), verdict, "{name}");
        }
    }

    #[test]
    fn a_refusal_fails_only_what_is_demanded() {
        let rows = [
            ("RFC 3207 §4: agreed", ALL, true, Ok(true)),
            ("CURLOPT_USE_SSL(3): CURLUSESSL_TRY goes on in clear", TRY, false, Ok(false)),
            ("CURLOPT_USE_SSL(3): CURLUSESSL_CONTROL", CONTROL, false, Err(Code::UseSslFailed)),
            ("CURLOPT_USE_SSL(3): CURLUSESSL_ALL", ALL, false, Err(Code::UseSslFailed)),
        ];
        for (name, wanted, agreed, verdict) in rows {
            let found = follows(wanted, agreed, || "denied".to_owned()).map_err(|e| e.code());
            assert_eq!(found, verdict, "{name}");
        }
    }

    #[test]
    fn demands() {
        assert_eq!([NONE, TRY, CONTROL, ALL].map(is_demanded), [false, false, true, true]);
    }
}
