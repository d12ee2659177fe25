#!/bin/sh
# Builds the Debian packages: deb.sh LIB_DIR TOOL OUTPUT_FOLDER [WHEEL]; prints their paths. Needs no root.
#
#   libwarmwire4               the library below /usr/lib/warmwire, where no loader looks by itself, and warmwire-run
#   libwarmwire-dev            headers, static library, pkg-config's and CMake's files, in the same private folder
#   warmwire                   the command line tool
#   libcurl4-warmwire          in place of the distribution's libcurl4: a link where the loader looks
#   libcurl3-gnutls-warmwire   in place of libcurl3-gnutls
#   python3-warmwire           the Python package, if its wheel for glibc is given (packaging/cross.sh)
#
# The same commit gives the same bytes: all times are those of SOURCE_DATE_EPOCH (default: of the commit).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/.." && pwd)
lib=${1:?library folder} tool=${2:?tool} output=${3:?output folder} wheel=${4:-}
prefix=/usr/lib/warmwire

version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$root/Cargo.toml" | head -n 1)
curl=$(sed -n 's/^Version: //p' "$lib/libcurl.pc")
architecture=$(dpkg --print-architecture)
libraries=usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || cc -print-multiarch)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022
chmod 755 "$work"
mkdir -p "$output"

# Everything as `make install` puts it; each package takes its part.
all=$work/all
sh "$here/install.sh" "$lib" "$tool" "$all$prefix" "$prefix"

copyright() {
	printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: Warmwire\n\n'
	printf 'Files: *\nCopyright: the Warmwire contributors\nLicense: Expat or Apache-2.0\n\nLicense: Expat\n'
	sed -e 's/^$/./' -e 's/^/ /' "$root/LICENSE-MIT"
	printf '\nLicense: Apache-2.0\n On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.\n'
}

# Debian's own form of a changelog; the project's is beside it.
changelog() {
	printf 'warmwire (%s) unstable; urgency=medium\n\n' "$version"
	printf '  * CHANGELOG.md.gz lists what this version contains.\n\n'
	printf ' -- The Warmwire contributors <warmwire@example.org>  %s\n' "$(date -u -R -d "@$SOURCE_DATE_EPOCH")"
}

# override PACKAGE REASON TAG...: findings of lintian that are meant.
override() {
	package=$1 reason=$2
	shift 2
	mkdir -p "$work/$package/usr/share/lintian/overrides"
	{
		echo "# $reason"
		for tag in "$@"; do echo "$package: $tag"; done
	} >>"$work/$package/usr/share/lintian/overrides/$package"
}

# take PACKAGE DESTINATION_FOLDER PATH...: moves paths of $all into a package.
take() {
	package=$1 folder=$2
	shift 2
	mkdir -p "$work/$package/$folder"
	for path in "$@"; do mv "$all/$path" "$work/$package/$folder/"; done
}

# build PACKAGE SECTION, with the other fields of the control file as input.
build() {
	package=$1 tree=$work/$1
	mkdir -p "$tree/DEBIAN" "$tree/usr/share/doc/$package"
	copyright >"$tree/usr/share/doc/$package/copyright"
	changelog | gzip -9n >"$tree/usr/share/doc/$package/changelog.gz"
	gzip -9nc "$root/CHANGELOG.md" >"$tree/usr/share/doc/$package/CHANGELOG.md.gz"
	[ ! -d "$tree/usr/share/man" ] || find "$tree/usr/share/man" -type f -exec gzip -9n {} +
	{
		printf 'Package: %s\nVersion: %s\nArchitecture: %s\n' "$package" "$version" "$architecture"
		printf 'Maintainer: The Warmwire contributors <warmwire@example.org>\n'
		printf 'Installed-Size: %s\nSection: %s\nPriority: optional\n' "$(du -sk --apparent-size "$tree" | cut -f1)" "$2"
		cat
	} >"$tree/DEBIAN/control"
	(cd "$tree" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
	find "$tree" -newermt "@$SOURCE_DATE_EPOCH" -exec touch -hd "@$SOURCE_DATE_EPOCH" {} +
	dpkg-deb --root-owner-group -Zxz --build "$tree" "$output/${package}_${version}_$architecture.deb" >/dev/null
	echo "$output/${package}_${version}_$architecture.deb"
}

# The newest symbol version of the C library that the files ask for.
libc() {
	for file in "$@"; do objdump -T "$file"; done | sed -n 's/.*GLIBC_\([0-9.]*\).*/\1/p' | sort -uV | tail -n 1
}

# Manual pages and completions are found only in the system's folders.
private=$prefix/share
for page in "$all$private"/man/man3/*; do
	# A page that only includes another is a link to it: the pages are compressed.
	case $(head -c 4 "$page") in ".so ") ln -sf "$(basename "$(cut -d' ' -f2 "$page")").gz" "${page}.gz" && rm "$page" ;; esac
done

take libwarmwire4 "$prefix/lib" "$prefix/lib/libcurl.so.4" "$prefix/lib/libcurl-gnutls.so.4"
chmod 644 "$work/libwarmwire4$prefix/lib/libcurl.so.4"
override libwarmwire4 "It has the symbols and texts of curl because it takes its place." "embedded-library curl [*]"
take libwarmwire4 "$prefix/bin" "$prefix/bin/warmwire-run"
take libwarmwire4 usr/share/man/man1 "$private/man/man1/warmwire-run.1"
mkdir -p "$work/libwarmwire4/usr/bin" "$work/libwarmwire4/usr/share/doc/libwarmwire4"
ln -s ../lib/warmwire/bin/warmwire-run "$work/libwarmwire4/usr/bin/"
(cd "$root" && cargo xtask supply) >"$work/libwarmwire4/usr/share/doc/libwarmwire4/bom.cdx.json"
(cd "$root" && cargo xtask supply --licences) | gzip -9n >"$work/libwarmwire4/usr/share/doc/libwarmwire4/licences.gz"
build libwarmwire4 libs <<CONTROL
Depends: libc6 (>= $(libc "$work/libwarmwire4$prefix/lib/libcurl.so.4")), libgcc-s1
Recommends: ca-certificates
Description: drop-in for libcurl, beside the distribution's
 A libcurl.so.4 written anew in Rust, with curl's API and ABI, in a private
 folder. warmwire-run PROGRAM runs any program on it.
CONTROL

take libwarmwire-dev "$prefix/lib" "$prefix/lib/libcurl.so" "$prefix/lib/libcurl-gnutls.so" "$prefix/lib/libcurl.a" \
	"$prefix/lib/pkgconfig" "$prefix/lib/cmake"
take libwarmwire-dev "$prefix" "$prefix/include"
take libwarmwire-dev "$prefix/bin" "$prefix/bin/curl-config"
take libwarmwire-dev usr/share/man "$private/man/man3"
build libwarmwire-dev libdevel <<CONTROL
Depends: libwarmwire4 (= $version)
Description: drop-in for libcurl: headers and static library
 Headers, libcurl.a, curl-config, and files for pkg-config and CMake, below
 /usr/lib/warmwire.
CONTROL

take warmwire usr/bin "$prefix/bin/warmwire"
# The library finds the broker's program by this link, and systemd searches units in its own folder alone.
mkdir -p "$work/warmwire$prefix/bin"
ln -s ../../../bin/warmwire "$work/warmwire$prefix/bin/warmwire"
units=$prefix/lib/systemd/user
take warmwire usr/lib/systemd/user "$units/warmwire-broker.service" "$units/warmwire-broker.socket"
take warmwire usr/share/man/man1 "$private/man/man1/warmwire.1"
take warmwire usr/share "$private/bash-completion" "$private/fish"
take warmwire usr/share/zsh/vendor-completions "$private/zsh/site-functions/_warmwire"
rmdir "$all$private/zsh/site-functions" "$all$private/zsh"
override warmwire "It has the texts of curl because it takes its place." "embedded-library curl [*]"
build warmwire web <<CONTROL
Depends: libc6 (>= $(libc "$work/warmwire/usr/bin/warmwire")), libgcc-s1
Recommends: ca-certificates
Description: drop-in for the curl command
 Transfers data by URL: HTTP/1.1, HTTP/2, HTTP/3, FTP, SFTP, mail and more,
 with segments, mirrors, a cache, and connections that outlive the process.
CONTROL

# replacement PACKAGE FILE NAME OTHER_NAME: a link where the loader looks, in place of the distribution's packages.
replacement() {
	tree=$work/$1
	mkdir -p "$tree/$libraries" "$tree/DEBIAN"
	ln -s "../warmwire/lib/libcurl.so.4" "$tree/$libraries/$2"
	echo "activate-noawait ldconfig" >"$tree/DEBIAN/triggers"
	echo "${2%.so.4} 4 $3 (>= $curl)" >"$tree/DEBIAN/shlibs"
	node=CURL_OPENSSL_4
	[ "$2" = libcurl.so.4 ] || node=CURL_GNUTLS_3
	{
		echo "$2 $3 #MINVER#"
		echo " $node@$node $curl"
		nm -D --defined-only "$lib/libcurl.so.4" | sed -n "s/^.* T \(.*\)@@*$node\$/ \1@$node $curl/p" | LC_ALL=C sort
	} >"$tree/DEBIAN/symbols"
	override "$1" "The library that the link leads to is in libwarmwire4; the loader finds it by this link." \
		"empty-shared-library-symbols [symbols]" "empty-shlibs [shlibs]" \
		"package-has-unnecessary-activation-of-ldconfig-trigger" "surplus-shared-library-symbols * [symbols]"
	build "$1" libs <<CONTROL
Depends: libwarmwire4 (= $version)
Provides: $3 (= $curl), $4 (= $curl)
Conflicts: $3, $4
Replaces: $3, $4
Description: drop-in for libcurl, in place of $3
 Every program that is linked with $2 runs on Warmwire.
 Installing $3 brings the distribution's library back.
CONTROL
}
replacement libcurl4-warmwire libcurl.so.4 libcurl4 libcurl4t64
replacement libcurl3-gnutls-warmwire libcurl-gnutls.so.4 libcurl3-gnutls libcurl3t64-gnutls

# python: the wheel's files where Debian's Python 3 finds them. The module has the stable ABI: any Python since 3.9.
python() {
	modules=usr/lib/python3/dist-packages
	tree=$work/python3-warmwire
	mkdir -p "$tree/$modules" "$tree/DEBIAN"
	/usr/bin/python3 -m zipfile -e "$wheel" "$tree/$modules"
	info=$(basename "$tree/$modules"/warmwire-*.dist-info)
	# pip must not take it for a package of its own: it has no RECORD, as all of Debian's.
	rm -rf "$tree/$modules/$info/RECORD" "$tree/$modules/$info/licenses" "$tree/$modules/$info/sboms"
	echo dpkg >"$tree/$modules/$info/INSTALLER"
	mkdir -p "$tree/usr/share/doc/python3-warmwire"
	(cd "$root" && cargo xtask supply --licences) | gzip -9n >"$tree/usr/share/doc/python3-warmwire/licences.gz"
	find "$tree/usr" -type f -exec chmod 644 {} +
	printf '#!/bin/sh\nset -e\nif [ "$1" = configure ] && command -v py3compile >/dev/null; then\n' >"$tree/DEBIAN/postinst"
	printf '\tpy3compile -p python3-warmwire\nfi\n' >>"$tree/DEBIAN/postinst"
	printf '#!/bin/sh\nset -e\nif command -v py3clean >/dev/null; then\n' >"$tree/DEBIAN/prerm"
	printf '\tpy3clean -p python3-warmwire\nfi\n' >>"$tree/DEBIAN/prerm"
	chmod 755 "$tree/DEBIAN/postinst" "$tree/DEBIAN/prerm"
	override python3-warmwire "It has the symbols and texts of curl because it takes its place." "embedded-library curl [*]"
	build python3-warmwire python <<CONTROL
Depends: libc6 (>= $(libc "$tree/$modules"/warmwire/_native*.so)), python3 (>= 3.9), python3:any
Recommends: ca-certificates
Description: curl's transfers for Python, many at a time
 HTTP/1 to 3, FTP, SFTP and more, with blocking clients and with asyncio, on
 one pool of connections. The interface resembles that of requests and httpx.
CONTROL
}
[ -z "$wheel" ] || python

# What no package took would be missing from all of them.
left=$(find "$all" ! -type d)
[ -z "$left" ] || { echo "deb.sh: no package has: $left" >&2; exit 1; }
