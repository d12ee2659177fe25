//! Encrypted Client Hello (RFC 9849): the choice of a configuration, and of the name in the outer hello.

use super::{TlsConfig, hpke};
use crate::{NetError, NetErrorKind};
use rustls::Error;
use rustls::client::{EchConfig, EchGreaseConfig, EchMode};
use rustls::crypto::hpke::{
    EncapsulatedSecret, Hpke, HpkeOpener, HpkePrivateKey, HpkePublicKey, HpkeSealer, HpkeSuite,
};
use rustls::internal::msgs::codec::{Codec, Reader};
use rustls::internal::msgs::handshake::EchConfigPayload;
use rustls::pki_types::{DnsName, EchConfigListBytes};
use std::sync::Arc;

/// ECH of a hello.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ech {
    /// A meaningless extension, so that ECH is common on the wire.
    Grease,
    /// The real hello is encrypted with one of these configurations.
    Offer {
        /// An ECHConfigList.
        list: Arc<[u8]>,
        /// The name in the outer hello, if not the configuration's (CURLOPT_ECH, `pn:`).
        outer_name: Option<Arc<str>>,
    },
    /// The configurations that DNS publishes for the host, if any.
    Published {
        /// Without a configuration the connection fails.
        required: bool,
        outer_name: Option<Arc<str>>,
    },
}

impl TlsConfig {
    /// Returns the configuration for a host with these ECH configurations in DNS.
    pub fn settled(self: &Arc<Self>, published: Option<&[u8]>) -> Result<Arc<TlsConfig>, NetError> {
        let Some(Ech::Published { required, outer_name }) = &self.ech else { return Ok(self.clone()) };
        let usable = published.filter(|list| is_usable(list, outer_name.as_deref()));
        let ech = usable.map(|list| Ech::Offer { list: list.into(), outer_name: outer_name.clone() });
        match ech {
            None if *required => Err(NetError::new(NetErrorKind::SslConnectError, "SSL connect error")),
            ech => Ok(Arc::new(TlsConfig { ech, ..(**self).clone() })),
        }
    }
}

/// Returns the name that the outer hello shows.
pub fn outer_name(ech: &Ech) -> Option<String> {
    let Ech::Offer { list, outer_name } = ech else { return None };
    if let Some(name) = outer_name {
        return Some(name.to_string());
    }
    // rustls uses the first usable one, and it can be identified only by its bytes.
    let configs = Vec::<EchConfigPayload>::read(&mut Reader::init(list)).ok()?;
    let usable = configs.into_iter().find(|c| is_usable(&encoded(std::slice::from_ref(c)), None))?;
    match usable {
        EchConfigPayload::V18(contents) => Some(contents.public_name.as_ref().to_owned()),
        EchConfigPayload::Unknown { .. } => None,
    }
}

/// Returns whether a list contains a usable configuration.
pub fn is_usable(list: &[u8], outer_name: Option<&str>) -> bool {
    offer(list, outer_name).is_ok()
}

/// Converts to rustls' type.
pub fn mode(ech: &Ech) -> Result<EchMode, Error> {
    match ech {
        Ech::Offer { list, outer_name } => Ok(EchMode::Enable(offer(list, outer_name.as_deref())?)),
        Ech::Published { .. } | Ech::Grease => {
            // Any 32 bytes are a key of X25519.
            let mut key = vec![0; 32];
            crate::random(&mut key).map_err(|_| Error::FailedToGetRandomBytes)?;
            Ok(EchMode::Grease(EchGreaseConfig::new(hpke::SUITES[0], HpkePublicKey(key))))
        }
    }
}

fn offer(list: &[u8], outer_name: Option<&str>) -> Result<EchConfig, Error> {
    let bytes = EchConfigListBytes::from(list);
    let Some(outer_name) = outer_name else { return EchConfig::new(bytes, &hpke::SUITES) };
    let malformed = || Error::General("no ECHConfigList".into());
    let name = DnsName::try_from(outer_name.to_owned()).map_err(|_| malformed())?;
    let configs = Vec::<EchConfigPayload>::read(&mut Reader::init(list)).map_err(|_| malformed())?;
    let lists = configs.iter().filter_map(|config| renamed(config, name.clone()));
    let mut usable = lists.filter_map(|list| EchConfig::new(EchConfigListBytes::from(list), &RENAMED).ok());
    usable.next().ok_or_else(malformed)
}

/// Type of the extension of a renamed configuration that contains the published one. Not mandatory (RFC 9849
/// §4.2), never sent.
const PUBLISHED: u16 = 0x6969;

/// Encodes a list of one configuration that shows `name` and contains the published configuration in its last
/// extension. `None` if the result would be longer than a configuration can be.
fn renamed(published: &EchConfigPayload, name: DnsName<'static>) -> Option<Vec<u8>> {
    let EchConfigPayload::V18(contents) = published else { return None };
    let mut original = Vec::new();
    published.encode(&mut original);
    let mut extensions = Vec::new();
    contents.extensions.encode(&mut extensions);
    let mut contents = contents.clone();
    contents.public_name = name;
    let mut config = Vec::new();
    contents.encode(&mut config);
    config.truncate(config.len() - extensions.len());

    let length = u16::try_from(original.len()).ok()?.to_be_bytes();
    let payload = [&original[..], &length].concat();
    let mut more = extensions.split_off(2);
    more.extend(PUBLISHED.to_be_bytes());
    more.extend(u16::try_from(payload.len()).ok()?.to_be_bytes());
    more.extend(payload);
    config.extend(u16::try_from(more.len()).ok()?.to_be_bytes());
    config.extend(more);
    let one = [&original[..2], &u16::try_from(config.len()).ok()?.to_be_bytes(), &config].concat();
    Some([&u16::try_from(one.len()).ok()?.to_be_bytes()[..], &one].concat())
}

/// Returns the input that the server binds the encryption to: the label and the published configuration.
fn published_info(info: &[u8]) -> Result<Vec<u8>, Error> {
    let missing = || Error::General("no published ECHConfig".into());
    let (rest, length) = info.split_last_chunk::<2>().ok_or_else(missing)?;
    let start = rest.len().checked_sub(u16::from_be_bytes(*length).into()).ok_or_else(missing)?;
    Ok([b"tls ech\0", &rest[start..]].concat())
}

/// A suite for a configuration with an overridden public name: the server has the published configuration,
/// and both sides must bind the encryption to that one. rustls needs suites with a static lifetime, so the
/// published configuration is read from the renamed one instead of a field of the suite.
#[derive(Debug)]
struct Renamed(usize);

static RENAMED: [&dyn Hpke; hpke::SUITES.len()] =
    [&Renamed(0), &Renamed(1), &Renamed(2), &Renamed(3), &Renamed(4), &Renamed(5)];

impl Renamed {
    fn suite(&self) -> &'static dyn Hpke {
        hpke::SUITES[self.0]
    }
}

impl Hpke for Renamed {
    fn seal(
        &self,
        info: &[u8],
        aad: &[u8],
        plaintext: &[u8],
        key: &HpkePublicKey,
    ) -> Result<(EncapsulatedSecret, Vec<u8>), Error> {
        Renamed::suite(self).seal(&published_info(info)?, aad, plaintext, key)
    }

    fn setup_sealer(
        &self,
        info: &[u8],
        key: &HpkePublicKey,
    ) -> Result<(EncapsulatedSecret, Box<dyn HpkeSealer + 'static>), Error> {
        Renamed::suite(self).setup_sealer(&published_info(info)?, key)
    }

    fn open(
        &self,
        enc: &EncapsulatedSecret,
        info: &[u8],
        aad: &[u8],
        ciphertext: &[u8],
        key: &HpkePrivateKey,
    ) -> Result<Vec<u8>, Error> {
        Renamed::suite(self).open(enc, &published_info(info)?, aad, ciphertext, key)
    }

    fn setup_opener(
        &self,
        enc: &EncapsulatedSecret,
        info: &[u8],
        key: &HpkePrivateKey,
    ) -> Result<Box<dyn HpkeOpener + 'static>, Error> {
        Renamed::suite(self).setup_opener(enc, &published_info(info)?, key)
    }

    fn generate_key_pair(&self) -> Result<(HpkePublicKey, HpkePrivateKey), Error> {
        Renamed::suite(self).generate_key_pair()
    }

    fn suite(&self) -> HpkeSuite {
        Renamed::suite(self).suite()
    }
}

/// An ECHConfigList in a message.
pub fn encoded(configs: &[EchConfigPayload]) -> Vec<u8> {
    let mut bytes = Vec::new();
    configs.to_vec().encode(&mut bytes);
    bytes
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns a list with one configuration for X25519 and AES-128-GCM, public name cover.example.
    pub fn list(version: u16) -> Vec<u8> {
        let name = b"cover.example";
        let mut contents = vec![7, 0, 0x20, 0, 32];
        contents.extend([9; 32]);
        contents.extend([0, 4, 0, 1, 0, 1, 0, name.len() as u8]);
        contents.extend(name);
        contents.extend([0, 0]);
        let config = [&version.to_be_bytes()[..], &(contents.len() as u16).to_be_bytes(), &contents].concat();
        [&(config.len() as u16).to_be_bytes()[..], &config].concat()
    }

    #[test]
    fn usable_configurations() {
        assert!(is_usable(&list(0xfe0d), None));
        assert!(is_usable(&list(0xfe0d), Some("other.example")));
        assert!(!is_usable(&list(0xfe0d), Some("not a name")));
        assert!(!is_usable(&list(0xfe09), None), "another version");
        for bad in [&b""[..], b"\0\0", b"\0\x04\xfe\x0d\0\0", &list(0xfe0d)[..40]] {
            assert!(!is_usable(bad, None) && !is_usable(bad, Some("a.example")), "{bad:?}");
        }
    }

    #[test]
    fn a_renamed_configuration_carries_the_published_one() {
        let published = list(0xfe0d);
        let configs = Vec::<EchConfigPayload>::read(&mut Reader::init(&published)).unwrap();
        let renamed = renamed(&configs[0], DnsName::try_from("other.example").unwrap()).unwrap();
        let EchConfigPayload::V18(shown) =
            &Vec::<EchConfigPayload>::read(&mut Reader::init(&renamed)).unwrap()[0]
        else {
            panic!()
        };
        assert_eq!(shown.public_name.as_ref(), "other.example");
        assert_eq!(shown.extensions.len(), 1);
        // rustls binds the encryption to the label and the configuration that it was given.
        let info = [b"tls ech\0", &renamed[2..]].concat();
        assert_eq!(published_info(&info).unwrap(), [b"tls ech\0", &published[2..]].concat());
        for short in [&b""[..], b"\0", b"\0\x05tls"] {
            assert!(published_info(short).is_err());
        }
    }

    #[test]
    fn published_configurations_settle_the_offer() {
        let config = |required| {
            let ech = Some(Ech::Published { required, outer_name: None });
            Arc::new(TlsConfig { ech, ..TlsConfig::default() })
        };
        let offered = config(true).settled(Some(&list(0xfe0d))).unwrap();
        assert!(matches!(&offered.ech, Some(Ech::Offer { .. })));
        for published in [None, Some(&b"\0\x04\xfe\x0d\0\0"[..])] {
            assert_eq!(config(false).settled(published).unwrap().ech, None);
            let error = config(true).settled(published).unwrap_err();
            assert_eq!(error.kind, NetErrorKind::SslConnectError);
        }
    }

    #[test]
    fn another_outer_name_is_bound_to_what_was_published() {
        let offer =
            |name: Option<&str>| Ech::Offer { list: list(0xfe0d).into(), outer_name: name.map(Arc::from) };
        assert_eq!(outer_name(&offer(None)).as_deref(), Some("cover.example"));
        assert_eq!(outer_name(&offer(Some("a.example"))).as_deref(), Some("a.example"));
        let published = Vec::<EchConfigPayload>::read(&mut Reader::init(&list(0xfe0d))).unwrap();
        assert_eq!(RENAMED.len(), hpke::SUITES.len());
        assert!(RENAMED.iter().zip(&hpke::SUITES).all(|(renamed, own)| renamed.suite() == own.suite()));
        let shown = renamed(&published[0], DnsName::try_from("a.example").unwrap()).unwrap();
        let key = HpkePublicKey(vec![9; 32]);
        assert!(RENAMED[0].seal(&[b"tls ech\0", &shown[2..]].concat(), b"", b"hello", &key).is_ok());
        assert!(RENAMED[0].seal(b"", b"", b"hello", &key).is_err(), "no configuration");
        assert_eq!(encoded(&published), list(0xfe0d));
    }
}
