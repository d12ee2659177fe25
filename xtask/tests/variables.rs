//! The variables that a cargo gets which xtask starts.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// With a variable of xtask's own package, ring's build script would run again, and with it most crates.
#[test]
fn variables_of_the_package_do_not_reach_cargo() {
    let folder = std::env::temp_dir().join(format!("warmwire-variables-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (cargo, seen) = (folder.join("cargo"), folder.join("seen"));
    std::fs::write(&cargo, format!("#!/bin/sh\nenv >{}\nexit 1\n", seen.display())).unwrap();
    std::fs::set_permissions(&cargo, std::fs::Permissions::from_mode(0o755)).unwrap();
    // Also in the search path: the real cargo would run all tests, and this one again among them.
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    let status = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .arg("unit")
        .env("CARGO", &cargo)
        .env("PATH", path)
        .envs([("CARGO_PKG_NAME", "xtask"), ("CARGO_MANIFEST_DIR", "/"), ("CARGO_INCREMENTAL", "0")])
        .status();
    assert_eq!(status.unwrap().code(), Some(1));
    let seen = std::fs::read_to_string(seen).unwrap();
    let has = |start: &str| seen.lines().any(|line| line.starts_with(start));
    assert!(!has("CARGO_PKG_") && !has("CARGO_MANIFEST_"), "{seen}");
    assert!(has("CARGO_INCREMENTAL=0"));
    std::fs::remove_dir_all(folder).unwrap();
}
