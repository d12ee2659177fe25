#!/bin/sh
# Builds a Debian package: deb.sh LIB_DIR TOOL OUTPUT_FOLDER; prints its path.
#
# All of it stands below /usr/lib/warmwire, where no loader, compiler or pkg-config looks by itself, so that it can be
# installed beside the distribution's libcurl; /usr/bin has `warmwire` and `warmwire-run PROGRAM...`, which runs any
# program on this libcurl. Needs no root.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/.." && pwd)
lib=${1:?library folder} tool=${2:?tool} output=${3:?output folder}
prefix=/usr/lib/warmwire

version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$root/Cargo.toml" | head -n 1)
architecture=$(dpkg --print-architecture)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022
chmod 755 "$work"

sh "$here/install.sh" "$lib" "$tool" "$work$prefix" "$prefix"
mkdir -p "$work/usr/bin" "$work/usr/share/doc/warmwire" "$work/DEBIAN"
ln -s ../lib/warmwire/bin/warmwire ../lib/warmwire/bin/warmwire-run "$work/usr/bin/"
# Manual pages and completions are found only in the system's folders.
for folder in man bash-completion zsh fish; do
	mv "$work$prefix/share/$folder" "$work/usr/share/"
done
mv "$work/usr/share/zsh/site-functions" "$work/usr/share/zsh/vendor-completions"
rmdir "$work$prefix/share"
find "$work/usr/share/man" -type f -exec gzip -9n {} +
find "$work/usr/share/man" -name '*.gz' | while read -r page; do
	# A page that only includes another names it as it is called now.
	if [ "$(zcat "$page" | head -c 4)" = ".so " ]; then
		ln -sf "$(basename "$(zcat "$page" | cut -d' ' -f2)").gz" "$page"
	fi
done
(cd "$root" && cargo xtask supply) >"$work/usr/share/doc/warmwire/bom.cdx.json"
gzip -9nc "$root/CHANGELOG.md" >"$work/usr/share/doc/warmwire/changelog.gz"
{
	printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: Warmwire\n\n'
	printf 'Files: *\nCopyright: the Warmwire contributors\nLicense: Expat or Apache-2.0\n\nLicense: Expat\n'
	sed -e 's/^$/./' -e 's/^/ /' "$root/LICENSE-MIT"
	printf '\nLicense: Apache-2.0\n On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.\n'
} >"$work/usr/share/doc/warmwire/copyright"

# The newest symbol version of the C library that anything here asks for.
libc=$(for file in "$work$prefix"/lib/*.so.4 "$work$prefix/bin/warmwire"; do objdump -T "$file"; done |
	sed -n 's/.*GLIBC_\([0-9.]*\).*/\1/p' | sort -uV | tail -n 1)
cat >"$work/DEBIAN/control" <<CONTROL
Package: warmwire
Version: $version
Architecture: $architecture
Maintainer: The Warmwire contributors <warmwire@example.org>
Installed-Size: $(du -sk "$work" | cut -f1)
Depends: libc6 (>= $libc), libgcc-s1
Recommends: ca-certificates
Section: net
Priority: optional
Description: drop-in for libcurl and curl, beside the distribution's
 A libcurl.so.4 written anew in Rust, with curl's API and ABI, in a private
 folder. warmwire-run PROGRAM runs any program on it; warmwire is the command
 line tool.
CONTROL
(cd "$work" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)

mkdir -p "$output"
package=$output/warmwire_${version}_$architecture.deb
dpkg-deb --root-owner-group -Zgzip -z6 --build "$work" "$package" >/dev/null
echo "$package"
