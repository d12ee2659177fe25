//! The lines of CURLINFO_CERTINFO.

use rustls::pki_types::CertificateDer;

/// Per certificate of the chain its `name:value` lines.
pub fn of_chain(_: &[CertificateDer<'_>]) -> Vec<Vec<String>> {
    Vec::new()
}
