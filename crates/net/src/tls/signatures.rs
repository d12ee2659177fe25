//! Verifies signatures and limits their number: each costs as much as the rest of the verification together,
//! and the sender of the certificates decides how many there are.

use super::x509::Certificate;
use rustls::pki_types::{AlgorithmIdentifier, InvalidSignature, SignatureVerificationAlgorithm};
use std::fmt;
use std::sync::Mutex;

/// For one chain with its lists and its OCSP response. A chain of ten needs ten.
const BUDGET: usize = 256;

/// The signatures verified for one chain.
pub struct Signatures<'a> {
    algorithms: &'a [&'a dyn SignatureVerificationAlgorithm],
    done: Mutex<VerifiedSignatures>,
}

#[derive(Default)]
struct VerifiedSignatures {
    asked: usize,
    proven: Vec<[Box<[u8]>; 3]>,
}

/// Signed data.
pub struct Signed<'b> {
    /// Contents of the AlgorithmIdentifier.
    pub algorithm: &'b [u8],
    pub data: &'b [u8],
    pub signature: &'b [u8],
}

impl<'b> From<&Certificate<'b>> for Signed<'b> {
    fn from(c: &Certificate<'b>) -> Signed<'b> {
        Signed { algorithm: c.signature_alg, data: c.tbs, signature: c.signature }
    }
}

impl<'a> Signatures<'a> {
    pub fn new(algorithms: &'a [&'a dyn SignatureVerificationAlgorithm]) -> Signatures<'a> {
        Signatures { algorithms, done: Mutex::default() }
    }

    /// Returns whether `signed` was signed with the key of `by`; false if the budget is used up.
    pub fn verify<'b>(&self, by: &Certificate<'_>, signed: impl Into<Signed<'b>>) -> bool {
        let signed = signed.into();
        self.algorithms.iter().any(|a| {
            a.signature_alg_id().as_ref() == signed.algorithm
                && a.public_key_alg_id().as_ref() == by.key_alg
                && self.ask(*a, by.key, signed.data, signed.signature)
        })
    }

    /// Returns the algorithms for another verifier, which shares the results and the budget.
    pub fn shared(&self) -> Vec<Shared<'_>> {
        self.algorithms.iter().map(|inner| Shared { inner: *inner, known: self }).collect()
    }

    fn ask(
        &self,
        by: &dyn SignatureVerificationAlgorithm,
        key: &[u8],
        data: &[u8],
        signature: &[u8],
    ) -> bool {
        let mut done = self.done.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if done.proven.iter().any(|[k, d, s]| **k == *key && **d == *data && **s == *signature) {
            return true;
        }
        done.asked += 1;
        let good = done.asked <= BUDGET && by.verify_signature(key, data, signature).is_ok();
        if good {
            done.proven.push([key.into(), data.into(), signature.into()]);
        }
        good
    }
}

/// An algorithm that reuses known results.
pub struct Shared<'s> {
    inner: &'s dyn SignatureVerificationAlgorithm,
    known: &'s Signatures<'s>,
}

impl fmt::Debug for Shared<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl SignatureVerificationAlgorithm for Shared<'_> {
    fn verify_signature(&self, key: &[u8], data: &[u8], signature: &[u8]) -> Result<(), InvalidSignature> {
        self.known.ask(self.inner, key, data, signature).then_some(()).ok_or(InvalidSignature)
    }

    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        self.inner.public_key_alg_id()
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        self.inner.signature_alg_id()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    /// Accepts a signature that equals the key, and counts.
    #[derive(Debug, Default)]
    struct Counting(AtomicUsize);

    impl SignatureVerificationAlgorithm for Counting {
        fn verify_signature(&self, key: &[u8], _: &[u8], signature: &[u8]) -> Result<(), InvalidSignature> {
            self.0.fetch_add(1, Relaxed);
            (key == signature).then_some(()).ok_or(InvalidSignature)
        }

        fn public_key_alg_id(&self) -> AlgorithmIdentifier {
            rustls::pki_types::alg_id::ED25519
        }

        fn signature_alg_id(&self) -> AlgorithmIdentifier {
            rustls::pki_types::alg_id::ED25519
        }
    }

    #[test]
    fn proven_once_and_never_without_end() {
        let counting = Counting::default();
        let algorithms: [&dyn SignatureVerificationAlgorithm; 1] = [&counting];
        let all = Signatures::new(&algorithms);
        let shared = all.shared();
        for _ in 0..1000 {
            shared[0].verify_signature(b"k", b"data", b"k").unwrap();
        }
        assert_eq!(counting.0.load(Relaxed), 1);
        for n in 0..1000u32 {
            let _ = shared[0].verify_signature(b"k", b"data", &n.to_be_bytes());
        }
        assert_eq!(counting.0.load(Relaxed), BUDGET);
        assert!(shared[0].verify_signature(b"n", b"data", b"n").is_err(), "right, and too late");
    }
}
