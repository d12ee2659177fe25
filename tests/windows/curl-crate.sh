#!/bin/sh
# The Rust crate `curl`'s own tests, built for Windows against this libcurl's import library and run on Wine: nobody here wrote them.
# Needs link-windows.sh's folder; tests/windows/run.sh calls it. Left out: `atexit`, which asks a server of the Internet, and
# `dns_servers`, which wants a libcurl without an option for name servers.
# Usage: tests/windows/curl-crate.sh LIB_DIR
set -eu
lib=$(cd "${1:?library folder}" && pwd)
cd "$(dirname "$0")/../.."
: "${CARGO_TARGET_DIR:=target}"
target=$(cd "$CARGO_TARGET_DIR" && pwd)

# The release that the program of tests/servers is pinned to, where cargo has unpacked it.
pinned="--locked --manifest-path tests/servers/curl-crate/Cargo.toml"
# shellcheck disable=SC2086
source=$(cargo metadata --format-version 1 $pinned |
	python3 -c 'import json,os,sys; print(next(os.path.dirname(p["manifest_path"]) for p in json.load(sys.stdin)["packages"] if p["name"] == "curl"))')
copy=$target/windows-curl-crate/$(basename "$source")
if [ ! -d "$copy" ]; then
	mkdir -p "$target/windows-curl-crate"
	rm -rf "$copy.new"
	cp -r "$source" "$copy.new"
	chmod -R u+w "$copy.new"
	printf '\n[workspace]\n' >>"$copy.new/Cargo.toml"
	# Its build script uses this libcurl without searching for one.
	mkdir -p "$copy.new/.cargo"
	mv "$copy.new" "$copy"
fi
mkdir -p "$copy/.cargo"
cat >"$copy/.cargo/config.toml" <<CONFIG
[target.x86_64-pc-windows-gnu]
runner = "wine"
[target.x86_64-pc-windows-gnu.curl]
rustc-link-lib = ["dylib=curl"]
rustc-link-search = ["native=$lib"]
CONFIG
cd "$copy"
# The DLL is looked for beside the program.
mkdir -p "$target/windows-curl-crate/build/x86_64-pc-windows-gnu/debug/deps"
cp "$lib/libcurl-x64.dll" "$target/windows-curl-crate/build/x86_64-pc-windows-gnu/debug/deps/"
CARGO_TARGET_DIR=$target/windows-curl-crate/build cargo test --quiet --no-fail-fast --no-default-features \
	--target x86_64-pc-windows-gnu --test easy --test multi --test post --test protocols -- --skip dns_servers
