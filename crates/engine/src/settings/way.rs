//! Settings that may outlive their handle, because none of them is a secret: those that the way to a host is
//! made from, and all those of a handle.

use tables::{ArgKind, EasyOption as O};

use super::option_map::{OptionMap, OptionSet};
use super::values::{Value, Values, own_value};
use super::{Method, Settings, next_generation};

/// All options that the way to a host is made from, besides the URL.
const WAY: OptionSet = {
    let (mut set, mut at) = (OptionSet::EMPTY, 0);
    while at < O::ALL.len() {
        let option = O::ALL[at];
        if option.routes() && !matches!(option, O::Url) {
            set = set.with(option);
        }
        at += 1;
    }
    set
};

/// The options whose values are no secret: numbers and switches, and the files of trust anchors.
const PUBLIC: OptionSet = {
    let (mut set, mut at) = (OptionSet::EMPTY.with(O::CaInfo).with(O::CaPath), 0);
    while at < O::ALL.len() {
        let option = O::ALL[at];
        if matches!(option.kind(), ArgKind::Long | ArgKind::Values | ArgKind::OffT) {
            set = set.with(option);
        }
        at += 1;
    }
    set
};

const EVERY: OptionSet = {
    let (mut set, mut at) = (OptionSet::EMPTY, 0);
    while at < O::ALL.len() {
        set = set.with(O::ALL[at]);
        at += 1;
    }
    set
};

/// The options of a request that are no secret, either. A URL must be looked at.
const PUBLIC_REQUEST: OptionSet = PUBLIC.with(O::Url).with(O::UserAgent).with(O::AcceptEncoding);

/// All settings of a closed handle, and the numbers that they had. The handle that has its storage takes them
/// over if its own settings are equal; then all that was derived from them holds.
#[derive(Default)]
pub struct FormerSettings {
    values: Values,
    method: Method,
    generation: u64,
    route: u64,
    way: u64,
    /// A transfer has begun since.
    compared: bool,
}

/// Settings that lead the same way, if none of them is a secret.
pub struct WayTerms(OptionMap<Value>);

impl Settings {
    /// Returns a copy of the settings that the way is made from. Returns `None` if one of them may be a
    /// secret or means something for this handle alone: then what is made from them must not outlive it.
    pub fn way_terms(&self) -> Option<WayTerms> {
        self.is_public_way().then(|| WayTerms(self.values.part(WAY, own_value)))
    }

    /// Returns whether the settings lead the same way as those of the terms.
    pub fn agree_with(&self, terms: &WayTerms) -> bool {
        self.is_public_way() && self.values.agrees(WAY, &terms.0)
    }

    /// Makes these the default settings. `former` gets them if they may outlive their handle, and gives the
    /// storage of those before them.
    pub fn renew(&mut self, former: &mut Option<Box<FormerSettings>>) {
        if self.is_public() {
            let former = former.get_or_insert_default();
            std::mem::swap(&mut self.values, &mut former.values);
            (former.method, former.compared) = (self.method, false);
            (former.generation, former.route, former.way) = (self.generation, self.route, self.way);
        } else {
            *former = None;
        }
        self.set_defaults();
    }

    /// Makes all settings the defaults, with a new generation. The values keep their storage.
    fn set_defaults(&mut self) {
        let next = next_generation();
        // Every field is named here: a new one must not carry something of one handle to another.
        let Settings {
            values,
            generation,
            route,
            way,
            routing,
            had_secrets,
            policy,
            unguarded,
            uncommon,
            method,
        } = self;
        values.clear();
        (*generation, *route, *way) = (next, next, next);
        (*routing, *had_secrets, *policy, *unguarded) = Default::default();
        (*uncommon, *method) = Default::default();
    }

    /// Takes over the numbers of equal settings of the handle before. Done once, when the first transfer
    /// begins.
    #[inline]
    pub fn succeed(&mut self, former: &mut Option<Box<FormerSettings>>) {
        if let Some(former) = former.as_mut().filter(|former| !former.compared) {
            former.compared = true;
            self.compare(former);
        }
    }

    fn compare(&mut self, former: &FormerSettings) {
        let agree = |set| self.values.agrees(set, former.values.by_option());
        if self.method == former.method && self.is_public() && agree(EVERY) {
            (self.generation, self.route, self.way) = (former.generation, former.route, former.way);
        } else if self.is_public_way() && agree(WAY) {
            self.way = former.way;
        }
    }

    /// Notes whether a value that is set may be a secret.
    pub(super) fn note_secrets(&self, option: O, value: &Value) {
        let public = match value {
            Value::Default => true,
            Value::Text(url) if option == O::Url => {
                !url.iter().any(|byte| matches!(byte, b'@' | b'?' | b'#'))
            }
            _ => PUBLIC_REQUEST.has(option),
        };
        if !public {
            self.had_secrets.set(true);
        }
    }

    /// Notes that the URL comes from an object of the application's.
    pub fn note_foreign_url(&self) {
        self.had_secrets.set(true);
    }

    /// Returns whether all settings so far were public, and the request depends on nothing else.
    fn is_public(&self) -> bool {
        !self.uncommon.affects_request() && !self.had_secrets.get() && self.is_public_way()
    }

    fn is_public_way(&self) -> bool {
        let own = self.uncommon.affects_way() || self.unguarded;
        !own && self.guard().is_free()
            && !self.values.has_any(WAY.without(PUBLIC))
            && self.names_absolute_files()
    }

    /// A relative name leads to another file once the working folder is another.
    fn names_absolute_files(&self) -> bool {
        [O::CaInfo, O::CaPath].into_iter().all(|option| match self.values.get(option) {
            Value::Text(name) => crate::sys::path(name).is_absolute(),
            _ => true,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_public_and_agree_with_equal_settings() {
        let of = |texts: &[(O, &str)], numbers: &[(O, i64)]| {
            let mut settings = Settings::default();
            settings.set_text(O::Url, Some(b"http://host.test/")).unwrap();
            texts
                .iter()
                .for_each(|(option, text)| settings.set_text(*option, Some(text.as_bytes())).unwrap());
            numbers.iter().for_each(|(option, number)| settings.set_long(*option, *number).unwrap());
            settings
        };
        let plain = of(&[], &[]).way_terms().unwrap();
        let rows: [(&str, Settings, bool, bool); 8] = [
            ("nothing is set", of(&[], &[]), true, true),
            ("CURLOPT_USERAGENT makes no way", of(&[(O::UserAgent, "me")], &[]), true, true),
            ("CURLOPT_TCP_NODELAY", of(&[], &[(O::TcpNoDelay, 0)]), true, false),
            ("CURLOPT_CAINFO, absolute", of(&[(O::CaInfo, ABSOLUTE)], &[]), true, false),
            ("CURLOPT_CAINFO, relative", of(&[(O::CaInfo, "ca.pem")], &[]), false, false),
            (
                "CURLOPT_PROXY may have a password",
                of(&[(O::Proxy, "http://me:secret@p/")], &[]),
                false,
                false,
            ),
            ("CURLOPT_USERPWD", of(&[(O::UserPwd, "me:secret")], &[]), false, false),
            ("CURLOPT_KEYPASSWD", of(&[(O::KeyPasswd, "secret")], &[]), false, false),
        ];
        for (name, settings, public, plainly) in rows {
            let terms = settings.way_terms();
            assert_eq!(terms.is_some(), public, "{name}");
            assert_eq!(settings.agree_with(&plain), plainly, "{name}");
            if let Some(terms) = terms {
                assert!(settings.agree_with(&terms), "{name}");
                assert_eq!(of(&[], &[]).agree_with(&terms), plainly, "{name}");
            }
        }
        let mut hooked = of(&[], &[]);
        hooked.set_tls_hook(Some([1, 2]));
        assert!(hooked.way_terms().is_none() && !hooked.agree_with(&plain));
    }

    #[test]
    fn equal_public_settings_have_the_numbers_of_those_before() {
        let of = |settings: &mut Settings, texts: &[(O, &str)], numbers: &[(O, i64)]| {
            texts
                .iter()
                .for_each(|(option, text)| settings.set_text(*option, Some(text.as_bytes())).unwrap());
            numbers.iter().for_each(|(option, number)| settings.set_long(*option, *number).unwrap());
        };
        let url = (O::Url, "http://host.test/a");
        type Row<'a> = (&'a str, &'a [(O, &'a str)], &'a [(O, i64)], [bool; 3]);
        let rows: [Row; 7] = [
            ("all are equal", &[url], &[(O::NoSignal, 1)], [true; 3]),
            ("set twice", &[(O::Url, "http://other.test/"), url], &[(O::NoSignal, 1)], [true; 3]),
            ("another URL", &[(O::Url, "http://host.test/b")], &[(O::NoSignal, 1)], [false, false, true]),
            ("one more option", &[url], &[(O::NoSignal, 1), (O::Timeout, 9)], [false, false, true]),
            ("another method", &[url], &[(O::NoSignal, 1), (O::Post, 1)], [false, false, true]),
            ("another way", &[url], &[(O::NoSignal, 1), (O::TcpNoDelay, 0)], [false; 3]),
            ("a secret", &[url, (O::UserPwd, "me:secret")], &[(O::NoSignal, 1)], [false; 3]),
        ];
        for (name, texts, numbers, expected) in rows {
            let mut first = Settings::default();
            of(&mut first, &[url], &[(O::NoSignal, 1)]);
            let known = [first.generation(), first.route(), first.way()];
            let (mut second, mut former) = (first, None);
            second.renew(&mut former);
            assert!(!second.is_set(O::Url) && !second.is_set(O::NoSignal), "{name}");
            of(&mut second, texts, numbers);
            second.succeed(&mut former);
            let same = [second.generation(), second.route(), second.way()];
            let same = [0, 1, 2].map(|at| same[at] == known[at]);
            assert_eq!(same, expected, "{name}");
            second.set_text(O::UserAgent, Some(b"x")).unwrap();
            assert_ne!(second.generation(), known[0], "{name}: changed since");
            second.set_text(O::UserAgent, None).unwrap();
            second.succeed(&mut former);
            assert_ne!(second.generation(), known[0], "{name}: it was compared");
        }
    }

    #[test]
    fn settings_that_may_be_secret_do_not_outlive_their_handle() {
        let outlives = |texts: &[(O, &str)]| {
            let mut settings = Settings::default();
            texts
                .iter()
                .for_each(|(option, text)| settings.set_text(*option, Some(text.as_bytes())).unwrap());
            outlive(settings)
        };
        let rows: [(O, &str, bool); 9] = [
            (O::Url, "http://host.test/a", true),
            (O::UserAgent, "me", true),
            (O::Url, "http://me:secret@host.test/", false),
            (O::Url, "http://host.test/?token=secret", false),
            (O::UserPwd, "me:secret", false),
            (O::Cookie, "a=b", false),
            (O::Xoauth2Bearer, "secret", false),
            (O::CopyPostFields, "secret", false),
            (O::Range, "0-1", false),
        ];
        for (option, text, expected) in rows {
            assert_eq!(outlives(&[(option, text)]), expected, "{} {text}", option.name());
        }
        let mut changed = Settings::default();
        changed.set_text(O::UserPwd, Some(b"me:secret")).unwrap();
        changed.set_text(O::UserPwd, None).unwrap();
        assert!(!outlive(changed), "a plan may have been made meanwhile");
        let mut listed = Settings::default();
        listed.set_list(O::HttpHeader, Some(vec![(*b"Authorization: x").into()])).unwrap();
        assert!(!outlive(listed));
    }

    fn outlive(mut settings: Settings) -> bool {
        let mut former = None;
        settings.renew(&mut former);
        former.is_some()
    }

    const ABSOLUTE: &str = if cfg!(windows) { "C:/ca.pem" } else { "/ca.pem" };

    #[test]
    fn no_secret_option_is_public() {
        for option in O::ALL.iter().filter(|option| option.is_secret()) {
            let mut values = OptionMap::default();
            values.put(*option, ());
            assert!(!values.has_any(PUBLIC), "{}", option.name());
        }
    }
}
