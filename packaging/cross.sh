#!/bin/sh
# Compiles for other C libraries and processors: cross.sh tool|wheel TARGET; prints the path of what it made.
#
# TARGET is x86_64 or aarch64 with unknown-linux-musl, and for a wheel also with unknown-linux-gnu. The C compiler and
# linker of all of them is zig (`sh tests/install.sh cross`): it brings each C library, so that no sysroot is needed and
# a wheel asks for no newer glibc than 2.17. Needs no root. The flags of a caller are not used: the same commit gives the
# same bytes.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
kind=${1:?tool or wheel} triple=${2:?target}
: "${CARGO_TARGET_DIR:=$root/target}"
cd "$root"
mkdir -p "$CARGO_TARGET_DIR"
built=$(cd "$CARGO_TARGET_DIR" && pwd)
tools=$built/cross-tools
unset CARGO_BUILD_TARGET CFLAGS LDFLAGS CC
export PATH="$tools/bin:$PATH" CARGO_TARGET_DIR="$built/cross" CARGO_PROFILE_RELEASE_DEBUG=false \
	CARGO_PROFILE_RELEASE_STRIP=symbols
RUSTFLAGS="--remap-path-prefix=$root=warmwire --remap-path-prefix=$built=target --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo"
# C of crates, too: an assertion of QuickJS names its file.
CFLAGS="-ffile-prefix-map=$built=target -ffile-prefix-map=${CARGO_HOME:-$HOME/.cargo}=cargo"
export RUSTFLAGS CFLAGS
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH

case $kind in
tool)
	cargo zigbuild --quiet --locked --release --target "$triple" -p warmwire-tool >&2
	echo "$CARGO_TARGET_DIR/$triple/release/warmwire"
	;;
wheel)
	case $triple in *-musl) policy=musllinux_1_2 ;; *) policy=manylinux_2_17 ;; esac
	wheels=$built/cross/wheels/$triple
	rm -rf "$wheels"
	(cd python && "$tools/bin/maturin" build --quiet --locked --release --zig --target "$triple" --compatibility "$policy" \
		--out "$wheels") >&2
	echo "$wheels"/*.whl
	;;
*) echo "cross.sh: $kind is neither tool nor wheel" >&2 && exit 2 ;;
esac
