#!/bin/sh
# Makes packages for rpm, pacman and apk of the Debian ones: nfpm.sh DEB_FOLDER OUTPUT_FOLDER [STATIC_TOOL]; prints
# their paths.
#
#   libwarmwire        the library below /usr/lib/warmwire, warmwire-run, headers, static library
#   warmwire           the command line tool
#   libcurl-warmwire   in place of the distribution's libcurl (rpm alone; `dnf swap libcurl libcurl-warmwire`)
#
# Needs `sh tests/install.sh nfpm`. For apk there is the tool alone, if the static one is given (`packaging/cross.sh`):
# Alpine's C library is musl, and the other files need glibc.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/.." && pwd)
debs=${1:?folder of Debian packages} static=${3:-}
mkdir -p "${2:?output folder}"
output=$(cd "$2" && pwd)
: "${CARGO_TARGET_DIR:=$root/target}"
nfpm=$(cd "$CARGO_TARGET_DIR" && pwd)/nfpm/bin/nfpm

version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$root/Cargo.toml" | head -n 1)
architecture=$(dpkg --print-architecture)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022

# unpack DEBIAN_PACKAGE TREE: its files, without those that only Debian reads.
unpack() {
	deb=$debs/${1}_${version}_$architecture.deb
	[ -e "$deb" ] || { echo "nfpm.sh: there is no $deb" >&2; exit 1; }
	mkdir -p "$work/$2"
	dpkg-deb -x "$deb" "$work/$2"
	rm -rf "$work/$2/usr/share/doc/$1/copyright" "$work/$2/usr/share/doc/$1/changelog.gz" "$work/$2/usr/share/lintian"
}

# The newest symbol version of the C library that a Debian package asks for, as rpm names it.
libc() {
	dpkg-deb -f "$debs/${1}_${version}_$architecture.deb" Depends |
		sed -n 's/.*libc6 (>= \([0-9.]*\)).*/libc.so.6(GLIBC_\1)(64bit)/p'
}

# package NAME FORMAT, with other fields of nfpm's file as input: packs the tree of that name.
package() {
	name=$1 format=$2
	mkdir -p "$work/$name/usr/share/licenses/$name"
	cp "$root/LICENSE-MIT" "$root/LICENSE-APACHE" "$work/$name/usr/share/licenses/$name/"
	{
		printf 'name: %s\narch: %s\nplatform: linux\nversion: %s\nrelease: "1"\n' "$name" "$architecture" "$version"
		printf 'maintainer: The Warmwire contributors <warmwire@example.org>\nlicense: MIT OR Apache-2.0\n'
		printf 'mtime: "%s"\n' "$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)"
		printf 'rpm:\n  buildhost: localhost\n  compression: xz\n'
		cat
		echo 'contents:'
		(cd "$work/$name" && find . ! -type d) | LC_ALL=C sort | while read -r path; do
			path=${path#.}
			if [ -L "$work/$name$path" ]; then
				printf '  - {src: "%s", dst: "%s", type: symlink}\n' "$(readlink "$work/$name$path")" "$path"
			else
				printf '  - {src: "%s", dst: "%s", file_info: {mode: 0%s}}\n' "$work/$name$path" "$path" \
					"$(stat -c %a "$work/$name$path")"
			fi
		done
		# Folders of its own go with the package.
		(cd "$work/$name" && find . -type d -path "*warmwire*") | LC_ALL=C sort | while read -r path; do
			printf '  - {dst: "%s", type: dir}\n' "${path#.}"
		done
	} >"$work/$name.yaml"
	"$nfpm" package --config "$work/$name.yaml" --packager "$format" --target "$output" >"$work/log" 2>&1 ||
		{ cat "$work/log" >&2; exit 1; }
	sed -n 's/^created package: //p' "$work/log"
}

rm -f "$output"/*.rpm "$output"/*.pkg.tar.* "$output"/*.apk
unpack libwarmwire4 libwarmwire
unpack libwarmwire-dev libwarmwire
mv "$work/libwarmwire/usr/share/doc/libwarmwire4" "$work/libwarmwire/usr/share/doc/libwarmwire"
rm -r "$work/libwarmwire/usr/share/doc/libwarmwire-dev"
unpack warmwire warmwire
mv "$work/warmwire/usr/share/zsh/vendor-completions" "$work/warmwire/usr/share/zsh/site-functions"
mkdir -p "$work/libcurl-warmwire/usr/lib64"
ln -s ../lib/warmwire/lib/libcurl.so.4 "$work/libcurl-warmwire/usr/lib64/libcurl.so.4"
curl=$(sed -n 's/^Version: //p' "$work/libwarmwire/usr/lib/warmwire/lib/pkgconfig/libcurl.pc")

library="drop-in for libcurl, written anew in Rust, in a private folder; warmwire-run runs a program on it"
tool="drop-in for the curl command: HTTP/1 to 3, FTP, SFTP, mail, with segments, mirrors and a cache"
package libwarmwire rpm <<FIELDS
description: "$library"
depends: ["$(libc libwarmwire4)", "libgcc_s.so.1()(64bit)"]
recommends: [ca-certificates]
FIELDS
package warmwire rpm <<FIELDS
description: "$tool"
depends: ["$(libc warmwire)", "libgcc_s.so.1()(64bit)"]
recommends: [ca-certificates]
FIELDS
package libcurl-warmwire rpm <<FIELDS
description: "drop-in for libcurl, in place of that of the distribution"
depends: ["libwarmwire = $version-1"]
provides: ["libcurl = $curl", "libcurl(x86-64) = $curl", "libcurl.so.4()(64bit)"]
conflicts: [libcurl, libcurl-minimal]
FIELDS
package libwarmwire archlinux <<FIELDS
description: "$library"
depends: [glibc, gcc-libs]
FIELDS
package warmwire archlinux <<FIELDS
description: "$tool"
depends: [glibc, gcc-libs]
FIELDS

[ -n "$static" ] || exit 0
# The static tool in place of that for glibc; Alpine has no systemd.
install -m 755 "$static" "$work/warmwire/usr/bin/warmwire"
rm -r "$work/warmwire/usr/lib/systemd"
package warmwire apk <<FIELDS
description: "$tool"
depends: [ca-certificates-bundle]
FIELDS
