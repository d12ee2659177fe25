# The library and the tool for Windows on x86-64, built and tested here (tests/install.sh windows brings what that takes).
.PHONY: windows test-windows windows-zip
WINDOWS := $(CARGO_TARGET_DIR)/x86_64-pc-windows-gnu

# libcurl-x64.dll, its import library and def file, libcurl.a, libcurl.pc and warmwire.exe below $(WINDOWS)/release.
windows:
	sh tests/install.sh windows
	sh crates/capi/link-windows.sh
	cargo build --quiet --release --target x86_64-pc-windows-gnu -p warmwire-tool

# A zip of them with headers, in $(WINDOWS)/zip; needs no compiler to be used.
windows-zip: windows
	sh packaging/windows.sh $(WINDOWS)/release $(WINDOWS)/zip

# On Wine: tests of the lowest floor, of warmwire.exe, and the programs of tests/abi on the DLL.
test-windows:
	sh tests/install.sh windows
	sh tests/windows/apart.sh sh tests/windows/run.sh
