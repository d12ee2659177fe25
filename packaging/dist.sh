#!/bin/sh
# Makes what a release consists of: dist.sh LIB_DIR TOOL OUTPUT_FOLDER
#
#   *.deb                                 packaging/deb.sh
#   *.rpm, *.pkg.tar.zst                  packaging/nfpm.sh, for rpm and pacman
#   warmwire-VERSION-linux-CPU.tar.xz     the prefix of `make install`: unpack it anywhere
#   warmwire-VERSION.tar.xz               the sources of the commit
#   bom.cdx.json, licences.txt            components of library and tool, and their licences
#   SHA256SUMS                            of all of them; SHA256SUMS.minisig when MINISIGN_KEY names a secret key
#
# The same commit and compiler give the same bytes: all times are those of the commit.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/.." && pwd)
lib=${1:?library folder} tool=${2:?tool}
mkdir -p "${3:?output folder}"
output=$(cd "$3" && pwd)

[ -z "$(git -C "$root" status --porcelain --untracked-files=no)" ] ||
	{ echo "dist.sh: files differ from the commit; commit them first" >&2; exit 1; }
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$root/Cargo.toml" | head -n 1)
SOURCE_DATE_EPOCH=$(git -C "$root" log -1 --format=%ct)
export SOURCE_DATE_EPOCH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022
rm -f "$output"/*.deb "$output"/*.rpm "$output"/*.tar.* "$output"/SHA256SUMS*

sh "$here/deb.sh" "$lib" "$tool" "$output" >/dev/null
sh "$here/nfpm.sh" "$output" "$output" >/dev/null

(cd "$root" && cargo xtask supply) >"$output/bom.cdx.json"
(cd "$root" && cargo xtask supply --licences) >"$output/licences.txt"

name=warmwire-$version-linux-$(uname -m)
sh "$here/install.sh" "$lib" "$tool" "$work/$name" /opt/warmwire
cp "$output/licences.txt" "$root/LICENSE-MIT" "$root/LICENSE-APACHE" "$root/README.md" "$work/$name/"
tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -cJf "$output/$name.tar.xz" "$name"
git -C "$root" archive --prefix="warmwire-$version/" HEAD | xz >"$output/warmwire-$version.tar.xz"

(cd "$output" && sha256sum *.deb *.rpm *.tar.* bom.cdx.json licences.txt >SHA256SUMS)
[ -z "${MINISIGN_KEY:-}" ] || minisign -S -s "$MINISIGN_KEY" -m "$output/SHA256SUMS"
ls -l "$output"
