//! `packaging/install.sh` with a library folder of empty files: where it installs, and where it refuses.

use super::{clean, empty_folder, here, tool};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The files that `crates/capi/link.sh` makes.
const BUILT: [&str; 7] = [
    "libcurl.so.4",
    "libcurl-gnutls.so.4",
    "libcurl.a",
    "libcurl.pc",
    "curl-config",
    "CURLConfig.cmake",
    "CURLConfigVersion.cmake",
];

/// Makes the library folder, and a folder to install into that everybody may write to.
fn folders() -> (PathBuf, PathBuf) {
    let (library, root) = (empty_folder(), empty_folder());
    for name in BUILT {
        std::fs::write(library.join(name), "prefix=/nowhere\n").unwrap();
    }
    for open in [library.parent().unwrap(), &library, &root] {
        assert!(Command::new("chmod").arg("a+rwx").arg(open).status().unwrap().success());
    }
    (library, root)
}

/// Installs below `root`, as nobody if this process is root.
fn install(library: &Path, root: &Path, prefix: &str, replace: &str) -> Output {
    let script = here().join("../../packaging/install.sh");
    let mut command = Command::new("sh");
    if is_root() {
        command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "sh"]);
    }
    let destination = format!("{}{prefix}", root.display());
    command.arg(script).arg(library).arg(tool()).args([destination.as_str(), prefix]);
    clean(&mut command).env("REPLACE", replace).stdin(Stdio::null()).output().unwrap()
}

fn is_root() -> bool {
    let out = Command::new("id").arg("-u").output().unwrap();
    out.stdout == b"0\n"
}

#[test]
fn the_systems_library_is_replaced_only_if_asked() {
    for prefix in ["/usr/local", "/usr", "/usr/local/", "/usr/../usr/local"] {
        let (library, root) = folders();
        let out = install(&library, &root, prefix, "");
        let text = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(1), "{prefix}: {text}");
        assert!(text.contains("replace the system's libcurl") && text.contains("REPLACE=yes"), "{text}");
        assert!(text.contains("PREFIX=/opt/warmwire"), "{text}");
        assert_eq!(std::fs::read_dir(&root).unwrap().count(), 0, "{prefix}: something was installed");
    }
    for (prefix, replace) in [("/usr/local", "yes"), ("/opt/warmwire", "")] {
        let (library, root) = folders();
        let out = install(&library, &root, prefix, replace);
        assert!(out.status.success(), "{prefix}: {}", String::from_utf8_lossy(&out.stderr));
        let placed = root.join(&prefix[1..]);
        for name in ["lib/libcurl.so.4", "bin/warmwire", "share/man/man1/warmwire.1"] {
            assert!(placed.join(name).exists(), "{prefix}: {name}");
        }
        let config = std::fs::read_to_string(placed.join("bin/curl-config")).unwrap();
        assert_eq!(config, format!("prefix={prefix}\n"));
    }
}

/// systemd accepts the units, and finds the program in them.
#[test]
fn systemd_accepts_the_units_of_the_broker() {
    let (library, root) = folders();
    let prefix = root.join("placed");
    let out = install(&library, Path::new(""), prefix.to_str().unwrap(), "");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let units = prefix.join("lib/systemd/user");
    let names = ["warmwire-broker.service", "warmwire-broker.socket"].map(|name| units.join(name));
    let service = std::fs::read_to_string(&names[0]).unwrap();
    assert!(service.contains(&format!("ExecStart={}/bin/warmwire --pool-broker\n", prefix.display())));
    let mut command = Command::new("systemd-analyze");
    command.args(["--user", "verify"]).args(&names).env("XDG_RUNTIME_DIR", &root);
    let out = testkit::needs::output(&mut command);
    let text = String::from_utf8_lossy(&out.stderr);
    let ours: Vec<_> = text.lines().filter(|line| line.contains("warmwire")).collect();
    assert!(out.status.success() && ours.is_empty(), "{text}");
}
