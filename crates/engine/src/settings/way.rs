//! The settings that the way to a host is made from, as a value that may outlive their handle.

use tables::{ArgKind, EasyOption as O};

use super::Settings;
use super::option_map::{OptionMap, OptionSet};
use super::values::Value;

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

/// Settings that lead the same way, if none of them is a secret.
pub struct WayTerms(OptionMap<Value>);

impl Settings {
    /// Returns a copy of the settings that the way is made from. Returns `None` if one of them may be a secret
    /// or means something for this handle alone: then what is made from them must not outlive it.
    pub fn way_terms(&self) -> Option<WayTerms> {
        self.is_public_way().then(|| WayTerms(self.values.part(WAY, super::own_value)))
    }

    /// Returns whether the settings lead the same way as those of the terms.
    pub fn agree_with(&self, terms: &WayTerms) -> bool {
        self.is_public_way() && self.values.agrees(WAY, &terms.0)
    }

    fn is_public_way(&self) -> bool {
        let own = self.websocket.is_some()
            || self.choices.tls.is_some()
            || self.choices.proxies.is_some()
            || self.tls_hook.is_some()
            || self.tls_module.is_some();
        !own && self.guard().is_free() && !self.values.has_any(WAY.without(PUBLIC)) && self.names_absolute_files()
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
            texts.iter().for_each(|(option, text)| settings.set_text(*option, Some(text.as_bytes())).unwrap());
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
            ("CURLOPT_PROXY may have a password", of(&[(O::Proxy, "http://me:secret@p/")], &[]), false, false),
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
