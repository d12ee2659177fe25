//! Login: greeting, AUTH TLS, USER, PASS and ACCT, protection of the data connections, first directory.

use tables::constant::{CURLFTPAUTH_TLS, CURLUSESSL_CONTROL};
use tables::{Code, EasyOption as O};
use wire::ftp::reply::Reply;

use crate::error::{Error, Result};
use crate::transfer::dialogue::{breaks_line, succeeded};

/// The step after the greeting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Greeting {
    /// TLS if it is wanted, then USER and PASS.
    LogIn,
    /// The server has logged us in without a command.
    LoggedIn,
    /// The server accepts no login.
    Fail,
}

/// Decides how to go on after the greeting. A login by 230 does not count where TLS is demanded and has not
/// begun.
pub fn after_greeting(code: u16, protected: bool, tls_demanded: bool) -> Greeting {
    match code {
        220 => Greeting::LogIn,
        230 if protected || !tls_demanded => Greeting::LoggedIn,
        230 => Greeting::LogIn,
        _ => Greeting::Fail,
    }
}

/// Returns the mechanisms of AUTH in the order in which they are tried. `option` is CURLOPT_FTPSSLAUTH.
pub fn tls_mechanisms(option: i64) -> [&'static [u8]; 2] {
    if option == CURLFTPAUTH_TLS { [b"TLS", b"SSL"] } else { [b"SSL", b"TLS"] }
}

/// Returns whether a reply to AUTH starts TLS (RFC 4217 §4; 334 by older servers).
pub fn starts_tls(code: u16) -> bool {
    matches!(code, 234 | 334)
}

/// The step after a reply to USER, PASS or CURLOPT_FTP_ALTERNATIVE_TO_USER.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginStep {
    /// Logged in.
    Done,
    /// ACCT.
    Account,
    /// The login is refused.
    Refused,
}

/// Returns whether the server asks for the password.
pub fn asks_for_password(code: u16) -> bool {
    code == 331
}

/// Decides how to go on with the login. A second 331, which asks for the password again, is a refusal.
pub fn after_login(code: u16) -> LoginStep {
    match code {
        200..=299 => LoginStep::Done,
        332 => LoginStep::Account,
        _ => LoginStep::Refused,
    }
}

/// Fails if the server does not accept the account.
pub fn check_account(code: u16) -> Result<()> {
    match code {
        230 => Ok(()),
        code => Err(Error::new(Code::FtpWeirdPassReply, format!("ACCT rejected by server: {code:03}"))),
    }
}

/// Returns the command that protects the data connections, or leaves them in clear (RFC 4217 §9). `wanted` is
/// CURLOPT_USE_SSL.
pub fn prot_command(wanted: i64) -> &'static [u8] {
    if wanted == CURLUSESSL_CONTROL { b"PROT C" } else { b"PROT P" }
}

/// Returns whether the data connections are private after the reply to PROT. Fails if they have to be and are
/// not.
pub fn data_is_private(wanted: i64, code: u16) -> Result<bool> {
    match succeeded(code) {
        true => Ok(wanted != CURLUSESSL_CONTROL),
        false if wanted > CURLUSESSL_CONTROL => Err(Error::new(Code::UseSslFailed, "")),
        false => Ok(false),
    }
}

/// Returns whether TLS on the control connection ends after the reply to CCC (RFC 2228 §3).
pub fn clears_commands(code: u16) -> bool {
    code < 500
}

/// Returns the directory that a reply to PWD names, if it names one. Fails on a name that cannot stand in a
/// command.
pub fn entry_path(reply: &Reply) -> Result<Option<Vec<u8>>> {
    if reply.code != 257 {
        return Ok(None);
    }
    let path = reply.directory();
    let unclosed = path.is_none() && reply.text().contains(&b'"');
    if unclosed || path.as_ref().is_some_and(|path| path.iter().any(u8::is_ascii_control)) {
        return Err(Error::from(Code::WeirdServerReply));
    }
    Ok(path.filter(|path| !path.is_empty()))
}

/// Returns whether a reply to SYST names OS/400, whose paths need SITE NAMEFMT 1.
pub fn is_os400(reply: &Reply) -> bool {
    let system = reply.text().trim_ascii_start().split(|&octet| octet == b' ').next().unwrap_or_default();
    reply.code == 215 && system.eq_ignore_ascii_case(b"OS/400")
}

/// Fails with `refused` if a text does not fit on one line: the rest would be a command of its own.
pub fn check_one_line(text: &[u8], refused: &str) -> Result<()> {
    match breaks_line(text) {
        true => Err(Error::new(Code::BadFunctionArgument, refused)),
        false => Ok(()),
    }
}

/// Splits a command of CURLOPT_QUOTE into the command and whether it may fail (a leading asterisk).
pub fn quoted(command: &[u8]) -> (&[u8], bool) {
    match command.strip_prefix(b"*") {
        Some(rest) => (rest, true),
        None => (command, false),
    }
}

/// Fails if the server refuses a command of the application that may not fail.
pub fn check_quoted(option: O, command: &[u8], code: u16, may_fail: bool) -> Result<()> {
    if code < 400 || may_fail {
        return Ok(());
    }
    let text = match option {
        O::PostQuote => format!("QUOT string not accepted: {}", String::from_utf8_lossy(command)),
        _ => format!("QUOT command failed with {code:03}"),
    };
    Err(Error::new(Code::QuoteError, text))
}

#[cfg(test)]
mod tests {
    use super::super::reply;
    use super::*;
    use tables::constant::{
        CURLFTPAUTH_DEFAULT, CURLFTPAUTH_SSL, CURLUSESSL_ALL, CURLUSESSL_NONE, CURLUSESSL_TRY,
    };

    #[test]
    fn a_greeting_that_logs_in_counts_only_if_tls_may_be_missing() {
        let rows = [
            ("RFC 959 §5.4: 220", 220, false, false, Greeting::LogIn),
            ("RFC 959 §5.4: 220 under TLS", 220, true, true, Greeting::LogIn),
            ("CURLOPT_USE_SSL(3): 230 without TLS", 230, false, false, Greeting::LoggedIn),
            ("CURLOPT_USE_SSL(3): 230 where TLS is demanded", 230, false, true, Greeting::LogIn),
            ("CURLOPT_USE_SSL(3): 230 on ftps", 230, true, true, Greeting::LoggedIn),
            ("RFC 959 §5.4: 120 is too early", 120, false, false, Greeting::Fail),
            ("RFC 959 §5.4: 421", 421, false, false, Greeting::Fail),
            ("RFC 959 §4.2: another success", 250, false, false, Greeting::Fail),
        ];
        for (name, code, protected, demanded, wanted) in rows {
            assert_eq!(after_greeting(code, protected, demanded), wanted, "{name}");
        }
    }

    #[test]
    fn auth_tries_ssl_first_unless_tls_is_asked_for() {
        let rows: [(_, _, [&[u8]; 2]); 3] = [
            ("CURLOPT_FTPSSLAUTH(3): CURLFTPAUTH_DEFAULT", CURLFTPAUTH_DEFAULT, [b"SSL", b"TLS"]),
            ("CURLOPT_FTPSSLAUTH(3): CURLFTPAUTH_SSL", CURLFTPAUTH_SSL, [b"SSL", b"TLS"]),
            ("CURLOPT_FTPSSLAUTH(3): CURLFTPAUTH_TLS", CURLFTPAUTH_TLS, [b"TLS", b"SSL"]),
        ];
        for (name, option, wanted) in rows {
            assert_eq!(tls_mechanisms(option), wanted, "{name}");
        }
    }

    #[test]
    fn tls_starts_after_234_or_334() {
        let rows = [
            ("RFC 4217 §4: 234", 234, true),
            ("RFC 2228 §4: 334, security data wanted", 334, true),
            ("RFC 2228 §4: 235 has ended the exchange already", 235, false),
            ("RFC 4217 §4: 504 does not know the mechanism", 504, false),
            ("RFC 959 §4.2: 200", 200, false),
        ];
        for (name, code, wanted) in rows {
            assert_eq!(starts_tls(code), wanted, "{name}");
        }
    }

    #[test]
    fn login_replies_lead_to_account_or_end() {
        let rows = [
            ("RFC 959 §5.4: 230", 230, LoginStep::Done),
            ("RFC 959 §5.4: 202, superfluous", 202, LoginStep::Done),
            ("RFC 4217 §5: 232, logged in by TLS", 232, LoginStep::Done),
            ("RFC 959 §5.4: 332 wants ACCT", 332, LoginStep::Account),
            ("RFC 959 §5.4: 331 after PASS", 331, LoginStep::Refused),
            ("RFC 959 §5.4: 530", 530, LoginStep::Refused),
            ("RFC 959 §5.4: 421", 421, LoginStep::Refused),
        ];
        for (name, code, wanted) in rows {
            assert_eq!(after_login(code), wanted, "{name}");
        }
        assert!(asks_for_password(331) && !asks_for_password(332) && !asks_for_password(230), "RFC 959 §5.4");
    }

    #[test]
    fn an_account_is_accepted_by_230_alone() {
        let rows = [
            ("RFC 959 §5.4: 230", 230, None),
            ("RFC 959 §5.4: 202 is not enough, as in curl", 202, Some(Code::FtpWeirdPassReply)),
            ("RFC 959 §5.4: 530", 530, Some(Code::FtpWeirdPassReply)),
        ];
        for (name, code, wanted) in rows {
            assert_eq!(check_account(code).err().map(|e| e.code()), wanted, "{name}");
        }
    }

    #[test]
    fn data_connections_are_private_unless_only_control_is_protected() {
        let rows = [
            ("RFC 4217 §9: PROT P", CURLUSESSL_ALL, 200, Ok(true)),
            ("CURLOPT_USE_SSL(3): CURLUSESSL_TRY", CURLUSESSL_TRY, 200, Ok(true)),
            ("CURLOPT_USE_SSL(3): CURLUSESSL_CONTROL asks for PROT C", CURLUSESSL_CONTROL, 200, Ok(false)),
            ("CURLOPT_USE_SSL(3): CURLUSESSL_CONTROL, refused", CURLUSESSL_CONTROL, 534, Ok(false)),
            ("CURLOPT_USE_SSL(3): CURLUSESSL_TRY, refused", CURLUSESSL_TRY, 534, Ok(false)),
            ("CURLOPT_USE_SSL(3): CURLUSESSL_ALL, refused", CURLUSESSL_ALL, 534, Err(Code::UseSslFailed)),
            ("ftps:// without CURLOPT_USE_SSL", CURLUSESSL_NONE, 200, Ok(true)),
            ("ftps:// without CURLOPT_USE_SSL, refused", CURLUSESSL_NONE, 502, Ok(false)),
        ];
        for (name, wanted, code, verdict) in rows {
            assert_eq!(data_is_private(wanted, code).map_err(|e| e.code()), verdict, "{name}");
        }
        assert_eq!(prot_command(CURLUSESSL_CONTROL), b"PROT C", "RFC 4217 §9");
        assert_eq!(prot_command(CURLUSESSL_ALL), b"PROT P", "RFC 4217 §9");
    }

    #[test]
    fn the_control_connection_is_cleared_unless_ccc_is_refused() {
        let rows = [
            ("RFC 2228 §3: 200", 200, true),
            ("CURLOPT_FTP_SSL_CCC(3): curl counts 4yz as consent", 431, true),
            ("RFC 2228 §3: 500, not understood", 500, false),
            ("RFC 2228 §3: 534, refused", 534, false),
        ];
        for (name, code, wanted) in rows {
            assert_eq!(clears_commands(code), wanted, "{name}");
        }
    }

    #[test]
    fn an_entry_path_is_quoted_and_has_no_control_octets() {
        let weird = Err(Code::WeirdServerReply);
        let rows = [
            ("RFC 959 §7: PWD", "257 \"/home\" is current", Ok(Some("/home"))),
            ("RFC 959 app. II: doubled quotes", "257 \"a\"\"b\"", Ok(Some("a\"b"))),
            ("RFC 959 app. II: no quotes", "257 /home", Ok(None)),
            ("RFC 959 app. II: an empty name", "257 \"\"", Ok(None)),
            ("RFC 959 §5.4: 550", "550 \"/home\"", Ok(None)),
            ("RFC 959 app. II: the quote is not closed", "257 \"/home", weird),
            ("CVE-2017-1000254: a control octet", "257 \"/ho\x01me\"", weird),
        ];
        for (name, line, wanted) in rows {
            let found = entry_path(&reply(line)).map_err(|e| e.code());
            assert_eq!(found, wanted.map(|path| path.map(|path: &str| path.as_bytes().to_vec())), "{name}");
        }
    }

    #[test]
    fn os400_is_known_by_the_first_word_of_syst() {
        let rows = [
            ("RFC 959 §4.1.3: OS/400", "215 OS/400 is the remote operating system", true),
            ("RFC 959 §4.1.3: in any case", "215  os/400", true),
            ("RFC 959 §4.1.3: UNIX", "215 UNIX Type: L8", false),
            ("RFC 959 §4.1.3: the name within another word", "215 OS/4000", false),
            ("RFC 959 §4.1.3: refused", "502 OS/400", false),
        ];
        for (name, line, wanted) in rows {
            assert_eq!(is_os400(&reply(line)), wanted, "{name}");
        }
    }

    #[test]
    fn credentials_with_a_line_break_are_refused() {
        let rows: [(_, &[u8], _); 4] = [
            ("RFC 959 §5.3.1: plain", b"user name", true),
            ("CVE-2019-5436's like: a carriage return", b"user\rDELE x", false),
            ("CVE-2019-5436's like: a line feed", b"user\nDELE x", false),
            ("RFC 959 §5.3.1: a tab is one line", b"a\tb", true),
        ];
        for (name, text, wanted) in rows {
            assert_eq!(check_one_line(text, "refused").is_ok(), wanted, "{name}");
        }
        assert_eq!(check_one_line(b"\n", "x").unwrap_err().code(), Code::BadFunctionArgument);
    }

    #[test]
    fn quoted_commands_fail_the_transfer_unless_marked() {
        assert_eq!(quoted(b"*DELE x"), (&b"DELE x"[..], true), "CURLOPT_QUOTE(3): an asterisk");
        assert_eq!(quoted(b"DELE *"), (&b"DELE *"[..], false), "CURLOPT_QUOTE(3): one elsewhere");
        assert_eq!(quoted(b"**x"), (&b"*x"[..], true), "CURLOPT_QUOTE(3): one is taken");
        let rows = [
            ("RFC 959 §4.2: success", O::Quote, 250, false, None),
            ("RFC 959 §4.2: 3yz is no refusal", O::Quote, 350, false, None),
            ("CURLOPT_QUOTE(3): may fail", O::Quote, 550, true, None),
            ("CURLOPT_QUOTE(3): refused", O::Quote, 400, false, Some("QUOT command failed with 400")),
            ("CURLOPT_PREQUOTE(3)", O::PreQuote, 502, false, Some("QUOT command failed with 502")),
            ("CURLOPT_POSTQUOTE(3)", O::PostQuote, 550, false, Some("QUOT string not accepted: DELE x")),
        ];
        for (name, option, code, may_fail, wanted) in rows {
            let failed = check_quoted(option, b"DELE x", code, may_fail).err();
            assert_eq!(failed.as_ref().map(Error::message), wanted, "{name}");
            assert!(failed.is_none_or(|e| e.code() == Code::QuoteError), "{name}");
        }
    }
}
