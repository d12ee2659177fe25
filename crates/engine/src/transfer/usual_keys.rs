//! The private keys that SSH tries where the application names none.

use std::path::PathBuf;

/// The default key files in a user's .ssh (CURLOPT_SSH_PRIVATE_KEYFILE(3) names the first). Types that were
/// never safe are omitted.
const USUAL_KEYS: [&str; 3] = ["id_rsa", "id_ed25519", "id_ecdsa"];

/// Returns the files of private keys that are tried where the application names none.
pub fn usual_key_files() -> Vec<PathBuf> {
    let folder = match std::env::var_os("HOME").filter(|home| !home.is_empty()) {
        Some(home) => PathBuf::from(home).join(".ssh"),
        None => PathBuf::new(),
    };
    USUAL_KEYS.iter().map(|name| folder.join(name)).filter(|file| file.is_file()).collect()
}
