//! CURLOPT_ECH: set in several calls (a mode, a list of configurations and an outer name), stored as one
//! text.

use tables::Code;

/// How much Encrypted Client Hello is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    #[default]
    Off,
    Grease,
    /// If there is a configuration.
    Try,
    /// Or no connection.
    Hard,
}

/// The combined values of all calls.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct EchWish<'a> {
    pub mode: Mode,
    /// In base64.
    pub list: Option<&'a [u8]>,
    pub outer_name: Option<&'a [u8]>,
}

impl<'a> EchWish<'a> {
    /// Parses the output of [`merged`].
    pub fn of(text: &'a [u8]) -> EchWish<'a> {
        let mut wish = EchWish::default();
        text.split(|b| *b == b'\n').for_each(|word| {
            wish.add(word);
        });
        wish
    }

    /// Adds a value. A list or a name without a mode requires ECH: without it the connection fails. Returns
    /// false for an invalid value.
    fn add(&mut self, word: &'a [u8]) -> bool {
        match word {
            b"false" => self.mode = Mode::Off,
            b"grease" => self.mode = Mode::Grease,
            b"true" => self.mode = Mode::Try,
            b"hard" => self.mode = Mode::Hard,
            [b'e', b'c', b'l', b':', list @ ..] if !list.is_empty() => self.list = Some(list),
            [b'p', b'n', b':', name @ ..] if !name.is_empty() => self.outer_name = Some(name),
            _ => return false,
        }
        if self.mode == Mode::Off && word != b"false" {
            self.mode = Mode::Hard;
        }
        true
    }

    fn text(&self) -> Vec<u8> {
        let mode: &[u8] = match self.mode {
            Mode::Off => b"false",
            Mode::Grease => b"grease",
            Mode::Try => b"true",
            Mode::Hard => b"hard",
        };
        let part = |prefix: &[u8], value: Option<&[u8]>| {
            value.map(|value| [b"\n", prefix, value].concat()).unwrap_or_default()
        };
        // The mode is last, so that the values before it do not change it.
        let parts = [part(b"ecl:", self.list), part(b"pn:", self.outer_name)].concat();
        [parts.strip_prefix(b"\n").unwrap_or_default(), b"\n", mode].concat()
    }
}

/// The text with one more call's word.
pub fn merged(old: &[u8], word: &[u8]) -> Result<Vec<u8>, Code> {
    let mut wish = EchWish::of(old);
    if word.contains(&b'\n') || !wish.add(word) {
        return Err(Code::BadFunctionArgument);
    }
    Ok(wish.text())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(words: &[&'static str]) -> Vec<u8> {
        words.iter().fold(Vec::new(), |text, word| merged(&text, word.as_bytes()).unwrap())
    }

    #[test]
    fn calls_add_up() {
        let mode = |words| EchWish::of(&after(words)).mode;
        assert_eq!(mode(&["true"]), Mode::Try);
        assert_eq!(mode(&["true", "ecl:AAAA"]), Mode::Try);
        assert_eq!(mode(&["ecl:AAAA", "true"]), Mode::Try);
        assert_eq!(mode(&["ecl:AAAA"]), Mode::Hard);
        assert_eq!(mode(&["false", "pn:a.example"]), Mode::Hard);
        assert_eq!(mode(&["pn:a.example", "false"]), Mode::Off);
        assert_eq!(mode(&["hard", "grease"]), Mode::Grease);
        let text = after(&["ecl:AAAA", "pn:a.example", "ecl:BBBB"]);
        let wish = EchWish { mode: Mode::Hard, list: Some(b"BBBB"), outer_name: Some(b"a.example") };
        assert_eq!(EchWish::of(&text), wish);
        for bad in ["", "yes", "TRUE", "ecl:", "pn:", "true\nhard"] {
            assert_eq!(merged(b"", bad.as_bytes()), Err(Code::BadFunctionArgument), "{bad}");
        }
    }
}
