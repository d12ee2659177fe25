#!/bin/sh
# Makes what a release consists of: dist.sh LIB_DIR TOOL MADE_FOLDER OUTPUT_FOLDER
#
#   *.deb                                 packaging/deb.sh
#   *.rpm, *.pkg.tar.zst, *.apk           packaging/nfpm.sh, for rpm, pacman and Alpine
#   warmwire-VERSION-linux-CPU.tar.xz     the prefix of `make install`: unpack it anywhere
#   *-static.tar.xz, *.oci.tar, *.whl     static tools, images and wheels, which `make static wheels` put into MADE_FOLDER
#   warmwire-VERSION.tar.xz               the sources of the commit
#   bom.cdx.json, licences.txt            components of library and tool, and their licences
#   SHA256SUMS                            of all of them; SHA256SUMS.minisig when MINISIGN_KEY names a secret key
#
# The same commit and compiler give the same bytes: all times are those of the commit.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/.." && pwd)
lib=${1:?library folder} tool=${2:?tool} made=${3:?folder of static tools and wheels}
mkdir -p "${4:?output folder}"
output=$(cd "$4" && pwd)

[ -z "$(git -C "$root" status --porcelain --untracked-files=no)" ] ||
	{ echo "dist.sh: files differ from the commit; commit them first" >&2; exit 1; }
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$root/Cargo.toml" | head -n 1)
SOURCE_DATE_EPOCH=$(git -C "$root" log -1 --format=%ct)
export SOURCE_DATE_EPOCH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022
rm -f "$output"/*.deb "$output"/*.rpm "$output"/*.apk "$output"/*.whl "$output"/*.tar "$output"/*.tar.* "$output"/SHA256SUMS*

cpu=$(uname -m)
cp "$made"/*-"$version"-linux-*-static.tar.xz "$made"/*-"$version"-linux-*.oci.tar "$made"/warmwire-"$version"-*.whl "$output/"
tar -C "$work" -xJf "$output/warmwire-$version-linux-$cpu-static.tar.xz"
sh "$here/deb.sh" "$lib" "$tool" "$output" "$(echo "$output"/*manylinux*"_$cpu.whl")" >/dev/null
sh "$here/nfpm.sh" "$output" "$output" "$work/warmwire-$version-linux-$cpu-static/warmwire" >/dev/null

(cd "$root" && cargo xtask supply) >"$output/bom.cdx.json"
(cd "$root" && cargo xtask supply --licences) >"$output/licences.txt"

name=warmwire-$version-linux-$cpu
sh "$here/install.sh" "$lib" "$tool" "$work/$name" /opt/warmwire
cp "$output/licences.txt" "$root/LICENSE-MIT" "$root/LICENSE-APACHE" "$root/README.md" "$work/$name/"
tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -cJf "$output/$name.tar.xz" "$name"
git -C "$root" archive --prefix="warmwire-$version/" HEAD | xz >"$output/warmwire-$version.tar.xz"

(cd "$output" && sha256sum *.deb *.rpm *.apk *.whl *.tar *.tar.* bom.cdx.json licences.txt >SHA256SUMS)
[ -z "${MINISIGN_KEY:-}" ] || minisign -S -s "$MINISIGN_KEY" -m "$output/SHA256SUMS"
ls -l "$output"
