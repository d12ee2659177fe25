//! Client certificates and their keys.

use super::ClientCert;
use crate::{NetError, NetErrorKind};
use rustls::crypto::CryptoProvider;
use rustls::sign::SingleCertAndKey;

pub fn load(_: &ClientCert, _: &CryptoProvider) -> Result<SingleCertAndKey, NetError> {
    Err(NetError::new(NetErrorKind::NotBuiltIn, "client certificates are not built in"))
}
