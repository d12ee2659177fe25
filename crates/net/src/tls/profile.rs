//! The properties of a certificate within a chain (RFC 5280, section 4.2), each extension read once. One that
//! is unreadable or repeated makes the certificate unsound: it can neither issue nor be issued.

use super::constraints::NameConstraints;
use super::dn;
use super::general_name::{self, GeneralName};
use super::x509::{self, Certificate};
use wire::der::{self, Reader};

/// A certificate with its properties; every slice points into the DER it was read from.
#[derive(Clone, Debug)]
pub struct Profile<'a> {
    pub cert: Certificate<'a>,
    /// In canonical form, like the issuer.
    pub subject: Vec<u8>,
    pub issuer: Vec<u8>,
    /// basicConstraints, if present.
    pub ca: Option<bool>,
    /// How many intermediates may follow below, if limited.
    pub path_length: Option<u32>,
    pub key_usage: Option<u16>,
    pub alt_names: Option<Vec<GeneralName<'a>>>,
    pub constraints: Option<NameConstraints<'a>>,
    /// Whether there is an unknown critical extension.
    pub has_unknown_critical: bool,
    /// A proxy certificate (RFC 3820).
    pub is_proxy: bool,
    /// Whether all extensions were readable.
    pub is_sound: bool,
    serves: Option<bool>,
    netscape: Option<u8>,
    key_id: Option<&'a [u8]>,
    authority: Authority<'a>,
    distribution: Vec<Point<'a>>,
}

/// authorityKeyIdentifier.
#[derive(Clone, Debug, Default)]
pub struct Authority<'a> {
    key_id: Option<&'a [u8]>,
    /// The first directory name, in canonical form.
    issuer: Option<Vec<u8>>,
    serial: Option<&'a [u8]>,
}

/// A point of cRLDistributionPoints.
#[derive(Clone, Debug)]
pub struct Point<'a> {
    /// The whole DistributionPointName.
    pub name: Option<&'a [u8]>,
    /// Whether it covers only some reasons of revocation.
    pub has_reasons: bool,
    /// Contents of the names of another signer of the lists, instead of the issuer.
    pub crl_issuer: Option<&'a [u8]>,
}

pub const KEY_CERT_SIGN: u16 = 0x04;
pub const CRL_SIGN: u16 = 0x02;
/// digitalSignature, keyEncipherment, keyAgreement: a server needs one of them.
const TLS_USAGES: u16 = 0x80 | 0x20 | 0x08;
/// Bits of Netscape's certificate type.
const NETSCAPE_SERVER: u8 = 0x40;
const NETSCAPE_SSL_CA: u8 = 0x04;
const NETSCAPE_ANY_CA: u8 = 0x07;
const NETSCAPE_TYPE: &[u8] = &[0x60, 0x86, 0x48, 1, 0x86, 0xf8, 0x42, 1, 1];
const PROXY_INFO: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 1, 14];
const NO_CHECK: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 48, 1, 5];
const IP_BLOCKS: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 1, 7];
const AS_NUMBERS: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 1, 8];
const SERVER_AUTH: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 3, 1];
const STEP_UP: [&[u8]; 2] =
    [&[0x2b, 6, 1, 4, 1, 0x82, 0x37, 10, 3, 3], &[0x60, 0x86, 0x48, 1, 0x86, 0xf8, 0x42, 4, 1]];

impl<'a> Profile<'a> {
    /// Returns `None` if the names can't be read.
    pub fn of(cert: Certificate<'a>) -> Option<Profile<'a>> {
        let mut x = Extensions { cert: &cert, sound: true };
        let basic = x.read(x509::BASIC_CONSTRAINTS, basic_constraints);
        let netscape = x.read(NETSCAPE_TYPE, |v| bits(v)?.first().copied().or(Some(0)));
        let key_usage = x.read(x509::KEY_USAGE, key_usage);
        let serves = x.read(x509::EXT_KEY_USAGE, serves);
        let key_id = x.read(x509::SUBJECT_KEY_ID, |v| Reader::new(v).expect(der::OCTET_STRING));
        let authority = x.read(x509::AUTHORITY_KEY_ID, Authority::parse).unwrap_or_default();
        let alt_names = x.read(x509::SUBJECT_ALT_NAME, general_name::list);
        let constraints = x.read(x509::NAME_CONSTRAINTS, NameConstraints::parse);
        let distribution = x.read(super::oids::CRL_DISTRIBUTION_POINTS, points).unwrap_or_default();
        let is_proxy = x.read(PROXY_INFO, |v| Reader::new(v).sequence()).is_some();
        let is_sound = x.sound;
        Some(Profile {
            subject: dn::canonical(cert.subject)?,
            issuer: dn::canonical(cert.issuer)?,
            ca: basic.map(|(ca, _)| ca),
            path_length: basic.and_then(|(_, length)| length),
            key_usage,
            alt_names,
            constraints,
            has_unknown_critical: cert.extensions.iter().any(|e| e.critical && !is_understood(e.oid)),
            is_proxy,
            is_sound,
            serves,
            netscape,
            key_id,
            authority,
            distribution,
            cert,
        })
    }

    pub fn parse(der: &'a [u8]) -> Option<Profile<'a>> {
        Profile::of(Certificate::parse(der)?)
    }

    /// Returns whether subject and issuer are the same name.
    pub fn is_self_issued(&self) -> bool {
        self.subject == self.issuer
    }

    /// Returns whether it is its own issuer by name, key identifiers and kind of key. The signature is not
    /// checked.
    pub fn is_self_signed(&self) -> bool {
        self.is_issued_by(self)
    }

    /// Returns whether `issuer` matches by name, key identifiers and kind of key. The signature is not
    /// checked.
    pub fn is_issued_by(&self, issuer: &Profile<'_>) -> bool {
        self.issuer == issuer.subject
            && self.is_sound
            && issuer.is_sound
            && self.authority.names(issuer)
            && super::strength::fits(issuer.cert.key_oid(), self.cert.signature_oid())
    }

    /// Returns whether there is no keyUsage, or one with `bit`.
    pub fn allows(&self, bit: u16) -> bool {
        self.key_usage.is_none_or(|usage| usage & bit != 0)
    }

    /// Returns whether it may issue others. The end of a chain may be an old kind: version 1 and self-signed,
    /// or marked only by keyUsage or Netscape's type.
    pub fn is_authority(&self, is_last: bool) -> bool {
        if !self.allows(KEY_CERT_SIGN) {
            return false;
        }
        match self.ca {
            Some(ca) => ca,
            None => is_last && (self.is_first_version() || self.key_usage.is_some() || self.netscape_ca()),
        }
    }

    /// Returns whether it may identify a server (`is_leaf`), or issue one that does.
    pub fn is_for_servers(&self, is_leaf: bool) -> bool {
        if self.serves == Some(false) {
            return false;
        }
        if is_leaf {
            return self.allows(TLS_USAGES) && self.netscape.is_none_or(|n| n & NETSCAPE_SERVER != 0);
        }
        let by_netscape = self.ca.is_none() && !self.is_first_version() && self.key_usage.is_none();
        self.is_authority(true) && (!by_netscape || self.netscape.is_some_and(|n| n & NETSCAPE_SSL_CA != 0))
    }

    /// The distribution points of its revocation lists.
    pub fn distribution(&self) -> &[Point<'a>] {
        &self.distribution
    }

    fn is_first_version(&self) -> bool {
        self.cert.version == 0 && self.is_self_signed()
    }

    fn netscape_ca(&self) -> bool {
        self.netscape.is_some_and(|n| n & NETSCAPE_ANY_CA != 0)
    }
}

impl<'a> Authority<'a> {
    pub fn parse(value: &'a [u8]) -> Option<Authority<'a>> {
        let mut r = Reader::new(value).sequence()?;
        let key_id = r.optional(der::context_primitive(0));
        let names = r.optional(der::context(1)).map(|list| general_name::all(Reader::new(list)));
        let serial = r.optional(der::context_primitive(2));
        let first = |names: Vec<GeneralName<'a>>| {
            names.into_iter().find_map(|n| match n {
                GeneralName::Directory(name) => Some(name),
                _ => None,
            })
        };
        let issuer = match names {
            Some(names) => first(names?),
            None => None,
        };
        r.is_empty().then_some(Authority { key_id, issuer, serial })
    }

    /// Returns whether the key identifiers do not contradict `issuer`.
    pub fn names(&self, issuer: &Profile<'_>) -> bool {
        let differs = |a: Option<&[u8]>, b: Option<&[u8]>| a.zip(b).is_some_and(|(a, b)| a != b);
        !differs(self.key_id, issuer.key_id)
            && !differs(self.serial, Some(issuer.cert.serial))
            && !differs(self.issuer.as_deref(), Some(&issuer.issuer))
    }
}

/// Reads extensions that may occur only once.
struct Extensions<'c, 'a> {
    cert: &'c Certificate<'a>,
    sound: bool,
}

impl<'a> Extensions<'_, 'a> {
    fn read<T>(&mut self, oid: &[u8], parse: impl Fn(&'a [u8]) -> Option<T>) -> Option<T> {
        let mut found = self.cert.extensions.iter().filter(|e| e.oid == oid);
        let first = found.next()?;
        let value = if found.next().is_some() { None } else { parse(first.value) };
        self.sound &= value.is_some();
        value
    }
}

/// Critical extensions that OpenSSL accepts: those it processes, and policies, which it does not check by
/// default.
fn is_understood(oid: &[u8]) -> bool {
    matches!(oid, [0x55, 0x1d, 15 | 17 | 19 | 30 | 31 | 32 | 33 | 36 | 37 | 54])
        || [NETSCAPE_TYPE, PROXY_INFO, NO_CHECK, IP_BLOCKS, AS_NUMBERS].contains(&oid)
}

fn basic_constraints(value: &[u8]) -> Option<(bool, Option<u32>)> {
    let mut r = Reader::new(value).sequence()?;
    let ca = match r.optional(der::BOOLEAN) {
        Some([b]) => *b != 0,
        Some(_) => return None,
        None => false,
    };
    let length = if r.is_empty() { None } else { Some(r.small()?) };
    r.is_empty().then_some((ca, length))
}

/// An empty one is invalid (RFC 5280, 4.2.1.3).
fn key_usage(value: &[u8]) -> Option<u16> {
    let octets = bits(value)?;
    let first = octets.first().copied().map_or(0, u16::from);
    let second = octets.get(1).copied().map_or(0, u16::from);
    Some(first | second << 8).filter(|usage| *usage != 0)
}

/// Returns the octets of a BIT STRING with its unused bits cleared.
fn bits(value: &[u8]) -> Option<Vec<u8>> {
    let (unused, octets) = Reader::new(value).expect(der::BIT_STRING)?.split_first()?;
    let mut octets = octets.to_vec();
    if *unused > 7 || *unused > 0 && octets.is_empty() {
        return None;
    }
    if let Some(last) = octets.last_mut() {
        *last &= 0xff << *unused;
    }
    Some(octets)
}

/// Returns whether the list names servers. As in OpenSSL, "any" does not include them.
fn serves(value: &[u8]) -> Option<bool> {
    let mut list = Reader::new(value).sequence()?;
    let mut found = false;
    while !list.is_empty() {
        let oid = list.expect(der::OID)?;
        found |= oid == SERVER_AUTH || STEP_UP.contains(&oid);
    }
    Some(found)
}

fn points(value: &[u8]) -> Option<Vec<Point<'_>>> {
    let mut list = Reader::new(value).sequence()?;
    let mut out = Vec::new();
    while !list.is_empty() {
        let mut point = list.sequence()?;
        let name = point.optional(der::context(0));
        let has_reasons = point.optional(der::context_primitive(1)).is_some();
        let crl_issuer = point.optional(der::context(2));
        if !point.is_empty() {
            return None;
        }
        out.push(Point { name, has_reasons, crl_issuer });
    }
    Some(out)
}
