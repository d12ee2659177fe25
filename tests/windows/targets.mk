# The library and the tool for Windows on x86-64, built and tested here (tests/install.sh windows brings what that takes).
.PHONY: windows test-windows windows-if-possible windows-zip
WINDOWS := $(CARGO_TARGET_DIR)/x86_64-pc-windows-gnu

# libcurl-x64.dll, its import library and def file, libcurl.a, libcurl.pc and warmwire.exe below $(WINDOWS)/release.
windows:
	sh tests/install.sh windows
	sh crates/capi/link-windows.sh
	cargo build --quiet --release --target x86_64-pc-windows-gnu -p warmwire-tool

# A zip of them with headers, in $(WINDOWS)/zip; needs no compiler to be used. Beside it manifests of winget and vcpkg, which
# name the address in RELEASES (default: a placeholder below the repository of Cargo.toml).
RELEASES ?= $(shell sed -n 's/^repository = "\([^"]*\)".*/\1/p' Cargo.toml)/releases
windows-zip: windows
	zip=$$(sh packaging/windows.sh $(WINDOWS)/release $(WINDOWS)/zip) && echo "$$zip" && \
		sh packaging/manifests.sh "$$zip" "$(RELEASES)/$$(basename "$$zip")" $(WINDOWS)/zip

# On Wine: unit tests of wire, runtime, net and engine, tests of warmwire.exe, the programs of tests/abi on the DLL, the Rust crate
# `curl`'s own on it, and the zip unpacked.
test-windows: windows-zip
	sh tests/windows/apart.sh sh tests/windows/run.sh

# The part that takes a few minutes, for `make test-all`. Wine's folder is 700 MB and made again in ten seconds. Reports the step as
# left out where Wine, the compiler or Rust's library for Windows can't be installed.
windows-if-possible:
	if sh tests/install.sh windows; then sh tests/windows/apart.sh sh tests/windows/run.sh --quick && rm -rf $(CARGO_TARGET_DIR)/wine; \
	else echo "left out: the tests for Windows need Wine, mingw-w64 and Rust's target" >&2; fi
