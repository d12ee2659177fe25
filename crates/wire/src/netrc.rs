//! .netrc files as curl reads them: logins for hosts, quoted tokens, macros skipped. Which file that is and
//! whether it may be used are the caller's matters.

/// Larger files are refused.
pub const FILE_LIMIT: usize = 128 * 1024;
const LINE_LIMIT: usize = 16 * 1024;
const TOKEN_LIMIT: usize = 4096;

/// The login of a host in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credentials {
    pub login: Vec<u8>,
    pub password: Vec<u8>,
}

/// A quoted token does not end, or a limit is exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyntaxError;

/// Finds the credentials for a host, and for one login at it if one is given. Machine names are compared
/// without case, logins exactly. The first entry for the host decides. With a login, the first entry with
/// that login or without one decides; an entry without a password is used only if no later one has more.
pub fn find(file: &[u8], host: &[u8], login: Option<&[u8]>) -> Result<Option<Credentials>, SyntaxError> {
    let mut search = Search {
        host,
        wanted_login: login,
        state: State::Nothing,
        entry: Entry::default(),
        found: None,
        spare: None,
    };
    if file.len() > FILE_LIMIT {
        return Err(SyntaxError);
    }
    for line in file.split(|&octet| octet == b'\n') {
        if line.len() > LINE_LIMIT {
            return Err(SyntaxError);
        }
        // A zero octet ends the line, as it does in curl.
        let line = line.split(|&octet| octet == 0).next().unwrap_or_default();
        if search.read_line(line)? {
            break;
        }
    }
    Ok(search.finish())
}

enum State {
    Nothing,
    /// The next token is a machine's name.
    Machine,
    /// Inside an entry that is for our host.
    OurHost,
    Login,
    Password,
    /// Inside a macro, which an empty line ends.
    Macro,
}

#[derive(Default)]
struct Entry {
    login: Option<Vec<u8>>,
    password: Option<Vec<u8>>,
}

struct Search<'a> {
    host: &'a [u8],
    wanted_login: Option<&'a [u8]>,
    state: State,
    entry: Entry,
    /// The first entry for this host and login that is sufficient.
    found: Option<Credentials>,
    /// The first with the login that is wanted and no password.
    spare: Option<Credentials>,
}

impl Search<'_> {
    /// Whether the search is over.
    fn read_line(&mut self, line: &[u8]) -> Result<bool, SyntaxError> {
        let mut rest = line.trim_ascii();
        if matches!(self.state, State::Macro) {
            if rest.is_empty() {
                self.state = State::Nothing;
            }
            return Ok(false);
        }
        if rest.starts_with(b"#") {
            return Ok(false);
        }
        while !rest.is_empty() && !matches!(self.state, State::Macro) {
            let (token, tail) = next_token(rest)?;
            rest = tail.trim_ascii_start();
            self.read_token(token);
            if self.found.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn read_token(&mut self, token: Vec<u8>) {
        let is = |keyword: &str| token.eq_ignore_ascii_case(keyword.as_bytes());
        self.state = match self.state {
            State::Login => {
                self.entry.login = Some(token);
                State::OurHost
            }
            State::Password => {
                self.entry.password = Some(token);
                State::OurHost
            }
            State::Machine if token.eq_ignore_ascii_case(self.host) => State::OurHost,
            State::Machine => State::Nothing,
            State::OurHost if is("login") => State::Login,
            State::OurHost if is("password") => State::Password,
            State::OurHost if is("machine") => {
                self.end_entry();
                State::Machine
            }
            State::OurHost if is("default") => {
                self.end_entry();
                State::OurHost
            }
            State::OurHost => State::OurHost,
            State::Nothing if is("machine") => State::Machine,
            State::Nothing if is("default") => State::OurHost,
            State::Nothing if is("macdef") => State::Macro,
            State::Nothing => State::Nothing,
            State::Macro => State::Macro,
        };
    }

    fn login_fits(&self) -> bool {
        self.wanted_login.is_none_or(|wanted| self.entry.login.as_deref().is_none_or(|login| login == wanted))
    }

    /// Ends an entry. It is judged as a whole, whatever the order of its fields; the last field of each kind
    /// counts.
    fn end_entry(&mut self) {
        let fits = self.login_fits();
        let Entry { login, password } = std::mem::take(&mut self.entry);
        if !fits || login.is_none() && password.is_none() {
            return;
        }
        let enough = password.is_some() || self.wanted_login.is_none();
        let login = login.unwrap_or_else(|| self.wanted_login.unwrap_or_default().to_vec());
        let credentials = Credentials { login, password: password.unwrap_or_default() };
        let place = if enough { &mut self.found } else { &mut self.spare };
        place.get_or_insert(credentials);
    }

    fn finish(mut self) -> Option<Credentials> {
        if self.found.is_none() {
            self.end_entry();
        }
        self.found.or(self.spare)
    }
}

/// Parses the next token; returns it and the rest. Quotes allow blanks and `\n`, `\r`, `\t` and escaped
/// characters.
fn next_token(line: &[u8]) -> Result<(Vec<u8>, &[u8]), SyntaxError> {
    let Some(mut rest) = line.strip_prefix(b"\"") else {
        let end = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
        let (token, tail) = line.split_at(end);
        return if token.len() <= TOKEN_LIMIT { Ok((token.to_vec(), tail)) } else { Err(SyntaxError) };
    };
    let mut token = Vec::new();
    loop {
        let (octet, tail) = match rest {
            [b'"', tail @ ..] => return Ok((token, tail)),
            [b'\\', escaped, tail @ ..] => (unescape(*escaped), tail),
            [plain, tail @ ..] => (*plain, tail),
            [] => return Err(SyntaxError),
        };
        token.push(octet);
        rest = tail;
        if token.len() > TOKEN_LIMIT {
            return Err(SyntaxError);
        }
    }
}

fn unescape(octet: u8) -> u8 {
    match octet {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(file: &str, host: &str, login: Option<&str>) -> String {
        match find(file.as_bytes(), host.as_bytes(), login.map(str::as_bytes)) {
            Ok(Some(found)) => format!(
                "{}:{}",
                String::from_utf8_lossy(&found.login),
                String::from_utf8_lossy(&found.password)
            ),
            Ok(None) => "none".to_owned(),
            Err(SyntaxError) => "error".to_owned(),
        }
    }

    #[test]
    fn finds_credentials() {
        let several = "machine a\npassword weird\npassword firstone\nlogin daniel\n\nmachine a\n\nmachine a\nlogin debbie\n\
                       \nmachine a\npassword weird\npassword \"second\\r\"\nlogin debbie\n";
        let rows = [
            ("machine a login u password p", "a", None, "u:p"),
            ("machine a login u password p", "A", None, "u:p"),
            ("machine a login u password p", "b", None, "none"),
            ("machine b login x password y machine a\n\tlogin u\n\tpassword p\n", "a", None, "u:p"),
            ("machine b login x password y default login u password p", "a", None, "u:p"),
            ("machine a login x password y default login bob", "b", None, "bob:"),
            ("machine a password secret", "a", None, ":secret"),
            ("machine a password secret", "a", Some("u"), "u:secret"),
            ("machine a password alone machine a login u password p", "a", Some("u"), "u:alone"),
            ("machine a password alone machine a login u password p", "a", None, ":alone"),
            ("machine a login x machine a login u password p", "a", None, "x:"),
            ("machine a login u password p password q", "a", None, "u:q"),
            ("machine a login u password p login v", "a", None, "v:p"),
            ("machine a login u password p login v", "a", Some("u"), "none"),
            ("machine a login u password p machine a login v password q", "a", Some("v"), "v:q"),
            ("machine a login u password p login v password q", "a", Some("v"), "v:q"),
            ("machine a login u password p", "a", Some("U"), "none"),
            ("machine a login u password p default login v password q", "a", Some("v"), "v:q"),
            (several, "a", Some("debbie"), "debbie:second\r"),
            (several, "a", Some("daniel"), "daniel:firstone"),
            ("# machine a login x password y\nmachine a login u password p", "a", None, "u:p"),
            ("macdef x\nmachine a login x password y\n\nmachine a login u password p", "a", None, "u:p"),
            ("machine a login u password \"p q\\\"\\t\\\\\"", "a", None, "u:p q\"\t\\"),
            ("machine a login u password #hash", "a", None, "u:#hash"),
            ("machine a login u password \"open", "a", None, "error"),
            ("machine a login username password\0 hello", "a", None, "username:"),
            ("machine a login username \"password\"\0 hello", "a", None, "username:"),
            ("machine a\r\nlogin u\r\npassword p\r\n", "a", None, "u:p"),
            ("", "a", None, "none"),
            ("machine", "a", None, "none"),
        ];
        for (file, host, login, wanted) in rows {
            assert_eq!(found(file, host, login), wanted, "{file:?} {host} {login:?}");
        }
    }

    #[test]
    fn limits() {
        let long = |length: usize| format!("machine a login {} password p", "x".repeat(length));
        assert_eq!(found(&long(TOKEN_LIMIT + 1), "a", None), "error");
        assert!(found(&long(TOKEN_LIMIT), "a", None).ends_with(":p"));
        assert_eq!(found(&"\n".repeat(FILE_LIMIT + 1), "a", None), "error");
    }
}
