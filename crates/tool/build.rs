//! Start-up counts: the unwinder is linked in, so that the dynamic linker has one library less to load.
//!
//! rustc asks for `-lgcc_s`. A linker script of that name, found before the system's library, answers with
//! the static half of it, which every gcc brings along.

use std::path::PathBuf;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    mark_root();
    mark_shells();
    let gnu = std::env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|env| env == "gnu");
    if !gnu {
        return;
    }
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    std::fs::write(folder.join("libgcc_s.so"), "INPUT(-lgcc_eh -lgcc)\n").expect("OUT_DIR can be written to");
    println!("cargo:rustc-link-search=native={}", folder.display());
}

/// Sets `root` where root builds: tests that take two users are left out elsewhere, and are reported as
/// ignored.
fn mark_root() {
    println!("cargo:rustc-check-cfg=cfg(root)");
    let id = std::process::Command::new("id").arg("-u").output();
    if id.is_ok_and(|id| id.stdout.trim_ascii() == b"0") {
        println!("cargo:rustc-cfg=root");
    }
}

/// Sets `bash`, `zsh` and `fish` where there is such a shell: tests that take it are left out elsewhere, and
/// are reported as ignored.
fn mark_shells() {
    // What the system lists changes with the shells that are installed.
    let list = "/etc/shells";
    if std::path::Path::new(list).exists() {
        println!("cargo:rerun-if-changed={list}");
    }
    println!("cargo:rerun-if-env-changed=PATH");
    let path = std::env::var_os("PATH").unwrap_or_default();
    for shell in ["bash", "zsh", "fish"] {
        println!("cargo:rustc-check-cfg=cfg({shell})");
        if std::env::split_paths(&path).any(|folder| folder.join(shell).is_file()) {
            println!("cargo:rustc-cfg={shell}");
        }
    }
}
