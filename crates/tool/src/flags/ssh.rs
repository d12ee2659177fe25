//! Flags for SCP, SFTP and the files they touch.

use super::flag::{Arg, Declaration, FLAG, Multi, Set};
use crate::act;
use crate::options::Key::Lib;
use crate::raw::EasyOption as O;

pub const FLAGS: &[Declaration] = &[
    Declaration {
        name: "compressed-ssh",
        categories: &["scp", "sftp", "ssh"],
        protocols: "SCP SFTP",
        since: "7.56.0",
        help: "Ask for compression of the SSH connection",
        about: "It is a request: the server may decline.",
        set: Set::On(Lib(O::SshCompression)),
        ..FLAG
    },
    Declaration {
        name: "create-file-mode",
        arg: Arg::Text("<mode>"),
        multi: Multi::Single,
        categories: &["sftp", "scp", "file", "upload"],
        protocols: "SFTP SCP FILE",
        since: "7.75.0",
        help: "File mode for created files",
        about: "An octal number for the mode of files that an upload over SFTP, SCP or FILE makes. \
            The default is 0644.",
        set: Set::Act(act::create_file_mode),
        ..FLAG
    },
    Declaration {
        name: "hostpubmd5",
        arg: Arg::Text("<md5>"),
        multi: Multi::Single,
        categories: &["sftp", "scp", "ssh"],
        protocols: "SFTP SCP",
        since: "7.17.1",
        help: "MD5 of the SSH server's key, as 32 hex digits",
        about: "The connection is refused when the server's key has another digest.",
        set: Set::Act(act::hostpubmd5),
        ..FLAG
    },
    Declaration {
        name: "hostpubsha256",
        arg: Arg::Text("<sha256>"),
        multi: Multi::Single,
        categories: &["sftp", "scp", "ssh"],
        protocols: "SFTP SCP",
        since: "7.80.0",
        help: "SHA-256 of the SSH server's key, in base64",
        about: "The connection is refused when the server's key has another digest.",
        set: Set::Text(Lib(O::SshHostPublicKeySha256)),
        ..FLAG
    },
    Declaration {
        name: "knownhosts",
        arg: Arg::File("<file>"),
        multi: Multi::Single,
        categories: &["sftp", "scp", "ssh"],
        protocols: "SCP SFTP",
        since: "8.17.0",
        help: "File of known SSH host keys",
        about: "Instead of ~/.ssh/known_hosts.",
        set: Set::ExistingFile(Lib(O::SshKnownHosts)),
        ..FLAG
    },
    Declaration {
        name: "pubkey",
        arg: Arg::Text("<key>"),
        multi: Multi::Single,
        categories: &["sftp", "scp", "ssh", "auth"],
        protocols: "SFTP SCP",
        since: "7.16.2",
        help: "Public key file for SSH",
        about: "Derived from the private key when not given.",
        set: Set::Text(Lib(O::SshPublicKeyFile)),
        ..FLAG
    },
];
