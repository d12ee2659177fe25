//! Passwords, passphrases, tokens and private keys in memory.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use zeroize::Zeroizing;

/// Secret bytes, not necessarily UTF-8. Clones share one copy, which is wiped when the last one is dropped.
/// The debug output is empty.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct SecretBytes(Arc<Zeroizing<Vec<u8>>>);

impl Deref for SecretBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl From<Vec<u8>> for SecretBytes {
    fn from(bytes: Vec<u8>) -> SecretBytes {
        SecretBytes(Arc::new(Zeroizing::new(bytes)))
    }
}

impl From<&[u8]> for SecretBytes {
    fn from(bytes: &[u8]) -> SecretBytes {
        bytes.to_vec().into()
    }
}

impl From<&str> for SecretBytes {
    fn from(text: &str) -> SecretBytes {
        text.as_bytes().into()
    }
}

impl Hash for SecretBytes {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.as_slice().hash(state);
    }
}

impl fmt::Debug for SecretBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretBytes(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_stay_out_of_debug_output() {
        assert_eq!(format!("{:?}", SecretBytes::from("hunter2")), "SecretBytes(..)");
    }
}
