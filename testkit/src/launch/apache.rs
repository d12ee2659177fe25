//! Apache httpd over HTTP, serving a directory: a place behind Basic and one behind Digest authentication,
//! places that are packed on their way, and WebDAV.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::{Running, free_port, program, run, with_retries};
use crate::body::pattern;
use crate::temp::TempDir;

/// Apache with `/bytes-N` files; `/basic/` and `/digest/` want user "user" and password "secret", `/gzip/`
/// and `/br/` are packed, `/packed.zst` is the pattern of 200 bytes, `/dav/` and, with Digest, `/davdigest/`
/// may be written to.
pub struct Apache {
    _running: Running,
    _directory: TempDir,
    pub port: u16,
}

/// MD5 of "user:testkit:secret", as htdigest writes it.
const DIGEST: &str = "user:testkit:ecb175784010db30074b2ac55dd23658";

impl Apache {
    pub fn start(sizes: &[usize]) -> io::Result<Apache> {
        with_retries(|| Apache::try_start(sizes))
    }

    fn try_start(sizes: &[usize]) -> io::Result<Apache> {
        let program = program("apache2", "apache2")?;
        let directory = TempDir::new("apache")?;
        for place in ["", "basic/", "digest/", "gzip/", "br/"] {
            for size in sizes {
                directory.write(&format!("root/{place}bytes-{size}"), pattern(*size))?;
            }
        }
        directory.write("root/packed.zst", zstd(&pattern(200)))?;
        // Started as root, Apache becomes www-data, who writes here.
        for place in ["root", "root/dav", "root/davdigest", "locks"] {
            std::fs::create_dir_all(directory.path().join(place))?;
            std::fs::set_permissions(directory.path().join(place), PermissionsExt::from_mode(0o777))?;
        }
        // {SHA} is SHA-1 of "secret" in base64 (htpasswd -s).
        directory.write("users", "user:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\n")?;
        directory.write("digests", format!("{DIGEST}\n"))?;
        let port = free_port()?;
        let file = directory.write("apache.conf", config(directory.path(), port))?;
        let mut command = Command::new(program);
        command.arg("-D").arg("FOREGROUND").arg("-f").arg(file);
        let running = run(command, &directory.path().join("log"), &[port])?;
        Ok(Apache { _running: running, _directory: directory, port })
    }

    pub fn http(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }
}

/// A frame of one raw block (RFC 8878 §3.1.1), for at most 255 bytes.
fn zstd(content: &[u8]) -> Vec<u8> {
    let length = content.len() as u8;
    let block = (u32::from(length) << 3 | 1).to_le_bytes();
    [&[0x28, 0xb5, 0x2f, 0xfd, 0x20, length][..], &block[..3], content].concat()
}

fn config(directory: &std::path::Path, port: u16) -> String {
    let place = directory.display();
    let modules = [
        "mpm_event",
        "authn_core",
        "authn_file",
        "authz_core",
        "authz_user",
        "auth_basic",
        "auth_digest",
        "brotli",
        "dav",
        "dav_fs",
        "deflate",
        "dir",
        "filter",
        "mime",
    ];
    let modules: String = modules
        .iter()
        .map(|module| format!("LoadModule {module}_module /usr/lib/apache2/modules/mod_{module}.so\n"))
        .collect();
    // As root, Apache needs another user for its children; otherwise it ignores the two lines.
    format!(
        "ServerRoot {place}\nPidFile {place}/pid\nListen 127.0.0.1:{port}\nServerName localhost\n{modules}
User www-data\nGroup www-data\nErrorLog {place}/error.log\nDocumentRoot {place}/root\nDefaultRuntimeDir {place}
KeepAlive On\nMaxKeepAliveRequests 0\nTypesConfig /etc/mime.types
<Directory {place}/root>\nRequire all granted\n</Directory>
<Location /basic/>\nAuthType Basic\nAuthName testkit\nAuthUserFile {place}/users\nRequire valid-user\n</Location>
<Location /digest/>\nAuthType Digest\nAuthName testkit\nAuthDigestProvider file\nAuthUserFile {place}/digests
Require valid-user\n</Location>
<Location /gzip/>\nSetOutputFilter DEFLATE\n</Location>\n<Location /br/>\nSetOutputFilter BROTLI_COMPRESS\n</Location>
AddEncoding zstd .zst\nDavLockDB {place}/locks/db\n<Location /dav/>\nDav On\n</Location>
<Location /davdigest/>\nDav On\nAuthType Digest\nAuthName testkit\nAuthDigestProvider file
AuthUserFile {place}/digests\nRequire valid-user\n</Location>\n"
    )
}
