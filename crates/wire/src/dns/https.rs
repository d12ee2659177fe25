//! HTTPS records (RFC 9460): where a service is, and how it is spoken there.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::name::Name;
use super::{MessageError, short};

/// Most hints and protocols kept of one record.
const MOST: usize = 32;

// SvcParamKeys (RFC 9460 section 14.3.2, RFC 9848 for ech).
const MANDATORY: u16 = 0;
const ALPN: u16 = 1;
const NO_DEFAULT_ALPN: u16 = 2;
const PORT: u16 = 3;
const V4_HINT: u16 = 4;
const ECH: u16 = 5;
const V6_HINT: u16 = 6;

/// A record that can be used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Binding {
    /// The lower, the better; 0 is an alias: everything is at the target (section 2.4.2).
    pub priority: u16,
    /// Another name whose addresses to use; `None` is the queried name.
    pub target: Option<Name>,
    /// ALPN names, in the order of the record, without the implied ones.
    pub alpn: Vec<Vec<u8>>,
    /// HTTP/1.1 does not go without saying.
    pub no_default_alpn: bool,
    pub port: Option<u16>,
    pub v4_hints: Vec<Ipv4Addr>,
    pub v6_hints: Vec<Ipv6Addr>,
    /// An ECHConfigList.
    pub ech: Option<Vec<u8>>,
}

impl Binding {
    /// Whether everything is at the target.
    pub fn is_alias(&self) -> bool {
        self.priority == 0
    }

    /// Parses the data of a record. Returns `None` if it requires an unknown parameter (section 8), or offers
    /// nothing. A fault invalidates all records of the answer (section 2.2).
    pub(super) fn read(data: &[u8]) -> Result<Option<Binding>, MessageError> {
        let priority = short(data, 0).ok_or(MessageError::Short)?;
        // Not compressed: within the data no pointer can lead before its beginning.
        let (target, mut at) = Name::read(data.get(2..).ok_or(MessageError::Short)?, 0)?;
        at += 2;
        let target = (!target.is_root()).then_some(target);
        let mut binding = Binding { priority, target, ..Binding::default() };
        if binding.is_alias() {
            return Ok(binding.target.is_some().then_some(binding)); // to the root: there is no such service
        }
        let (mut seen, mut demanded) = (Vec::new(), Vec::new());
        while at < data.len() {
            let key = short(data, at).ok_or(MessageError::Short)?;
            let length = usize::from(short(data, at + 2).ok_or(MessageError::Short)?);
            let value = data.get(at + 4..at + 4 + length).ok_or(MessageError::Short)?;
            if seen.last().is_some_and(|last| *last >= key) {
                return Err(MessageError::Record);
            }
            seen.push(key);
            match key {
                MANDATORY => demanded = keys(value)?,
                key => binding.take(key, value)?,
            }
            at += 4 + length;
        }
        if demanded.iter().any(|key| !seen.contains(key)) {
            return Err(MessageError::Record);
        }
        let known = demanded.iter().all(|key| (ALPN..=V6_HINT).contains(key));
        let speaks = !binding.no_default_alpn || !binding.alpn.is_empty();
        Ok((known && speaks).then_some(binding))
    }

    fn take(&mut self, key: u16, value: &[u8]) -> Result<(), MessageError> {
        match key {
            ALPN => self.alpn = protocols(value)?,
            NO_DEFAULT_ALPN if value.is_empty() => self.no_default_alpn = true,
            PORT if value.len() == 2 => self.port = short(value, 0),
            V4_HINT => self.v4_hints = hints::<4, _>(value)?,
            V6_HINT => self.v6_hints = hints::<16, _>(value)?,
            ECH if !value.is_empty() => self.ech = Some(value.to_vec()),
            NO_DEFAULT_ALPN | PORT | ECH => return Err(MessageError::Record),
            _ => {}
        }
        Ok(())
    }
}

/// The keys that who uses the record must know, in ascending order (section 8).
fn keys(value: &[u8]) -> Result<Vec<u16>, MessageError> {
    let pairs = value.chunks(2).map(|pair| short(pair, 0));
    let keys: Vec<u16> = pairs.collect::<Option<_>>().ok_or(MessageError::Record)?;
    let fits = !keys.is_empty() && keys[0] != MANDATORY && keys.is_sorted_by(|a, b| a < b);
    if fits { Ok(keys) } else { Err(MessageError::Record) }
}

fn protocols(mut value: &[u8]) -> Result<Vec<Vec<u8>>, MessageError> {
    let mut list = Vec::new();
    while let Some((length, rest)) = value.split_first() {
        let (name, rest) = rest.split_at_checked(usize::from(*length)).ok_or(MessageError::Record)?;
        if name.is_empty() {
            return Err(MessageError::Record);
        }
        list.push(name.to_vec());
        value = rest;
    }
    list.truncate(MOST);
    if list.is_empty() { Err(MessageError::Record) } else { Ok(list) }
}

fn hints<const SIZE: usize, T: From<[u8; SIZE]>>(value: &[u8]) -> Result<Vec<T>, MessageError> {
    let (list, rest) = value.as_chunks::<SIZE>();
    if list.is_empty() || !rest.is_empty() {
        return Err(MessageError::Record);
    }
    Ok(list.iter().take(MOST).map(|octets| T::from(*octets)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds the data of a record: priority, target, and raw parameters.
    fn data(priority: u16, target: &[u8], parameters: &[(u16, &[u8])]) -> Vec<u8> {
        let mut data = priority.to_be_bytes().to_vec();
        data.extend(target);
        for (key, value) in parameters {
            data.extend(key.to_be_bytes());
            data.extend((value.len() as u16).to_be_bytes());
            data.extend(*value);
        }
        data
    }

    #[test]
    fn a_service_with_everything() {
        let all = data(
            1,
            b"\x03svc\0",
            &[
                (MANDATORY, b"\0\x01\0\x03"),
                (ALPN, b"\x02h3\x02h2"),
                (NO_DEFAULT_ALPN, b""),
                (PORT, b"\x20\xfb"),
                (V4_HINT, &[10, 0, 0, 1, 10, 0, 0, 2]),
                (ECH, b"config"),
                (V6_HINT, &[0xfd; 16]),
                (7, b"unknown"),
            ],
        );
        let read = Binding::read(&all).unwrap().unwrap();
        assert_eq!((read.priority, read.target.clone().unwrap().to_string()), (1, "svc".to_owned()));
        assert_eq!((read.alpn.clone(), read.no_default_alpn), (vec![b"h3".to_vec(), b"h2".to_vec()], true));
        assert_eq!((read.port, read.ech.as_deref()), (Some(8443), Some(&b"config"[..])));
        assert_eq!((read.v4_hints.len(), read.v6_hints[0].octets()), (2, [0xfd; 16]));
        let cut_short = (0..all.len()).filter(|cut| Binding::read(&all[..*cut]).is_err()).count();
        assert_eq!(
            cut_short,
            all.len() - 5,
            "whole without parameters, and behind each that follows what is demanded"
        );
    }

    #[test]
    fn an_alias_leads_elsewhere() {
        let alias = Binding::read(&data(0, b"\x03cdn\0", &[(PORT, b"bad")])).unwrap().unwrap();
        assert!(alias.is_alias() && alias.port.is_none());
        assert_eq!(Binding::read(&data(0, b"\0", &[])).unwrap(), None);
    }

    #[test]
    fn a_record_with_unknown_mandatory_keys_is_ignored() {
        assert_eq!(Binding::read(&data(1, b"\0", &[(MANDATORY, b"\0\x09"), (9, b"")])).unwrap(), None);
        assert_eq!(Binding::read(&data(1, b"\0", &[(NO_DEFAULT_ALPN, b"")])).unwrap(), None);
        assert!(Binding::read(&data(1, b"\0", &[(9, b"")])).unwrap().is_some());
    }

    #[test]
    fn malformed_parameters() {
        let bad: [&[(u16, &[u8])]; 12] = [
            &[(PORT, b"\0\x50"), (ALPN, b"\x02h2")],
            &[(PORT, b"\0\x50"), (PORT, b"\0\x50")],
            &[(PORT, b"\0")],
            &[(ALPN, b"")],
            &[(ALPN, b"\0")],
            &[(ALPN, b"\x03h2")],
            &[(NO_DEFAULT_ALPN, b"x")],
            &[(V4_HINT, b"")],
            &[(V6_HINT, &[0; 15])],
            &[(ECH, b"")],
            &[(MANDATORY, b"\0\x01")],
            &[(MANDATORY, b"\0\x03\0\x01"), (ALPN, b"\x02h2"), (PORT, b"\0\x50")],
        ];
        for parameters in bad {
            assert_eq!(
                Binding::read(&data(1, b"\0", parameters)),
                Err(MessageError::Record),
                "{parameters:?}"
            );
        }
        assert_eq!(Binding::read(&data(1, b"\xc0\0", &[])), Err(MessageError::Name), "no pointers here");
    }
}
