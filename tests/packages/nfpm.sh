#!/bin/sh
# Tries the packages for rpm and pacman: tests/packages/nfpm.sh FOLDER_OF_PACKAGES
#
# Checks names, contents, what they require and provide. Then dnf and pacman install them into a fresh root of Debian,
# where the tool makes a transfer; `dnf swap` puts the library in place of another libcurl and back; and both remove
# everything again. Stand-ins, made here, are what a distribution has: libcurl, a program that needs it, the C library.
# The package for apk is unpacked into an empty root and makes a transfer there; no apk is in the registries that tests reach.
# Needs root, mmdebstrap with a Debian mirror, dnf, createrepo_c, pacman and `sh tests/install.sh nfpm`.
set -eu
packages=$(cd "${1:?folder of packages}" && pwd)
. "$(cd "$(dirname "$0")" && pwd)/tried.sh"
: "${CARGO_TARGET_DIR:=target}"
nfpm=$(cd "$CARGO_TARGET_DIR" && pwd)/nfpm/bin/nfpm
[ "$(id -u)" = 0 ] || { echo "left out: the packages are tried as root"; exit 0; }
for program in mmdebstrap dnf createrepo_c rpm pacman "$nfpm"; do
	command -v "$program" >/dev/null || { echo "left out: needs $program"; exit 0; }
done
work=$(mktemp -d)
root=$work/root
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT

failed() { echo "not ok: $1"; exit 1; }
has() { grep -qxF -- "$2" "$1" || { cat "$1"; failed "$3: no $2"; }; }

# Contents and relations.
version=$(cd "$packages" && echo libwarmwire-*.rpm | sed 's/libwarmwire-\([0-9.]*\)-1.*/\1/')
machine=$(uname -m)
for name in libwarmwire warmwire libcurl-warmwire; do
	rpm -qpl "$packages/$name-$version-1.$machine.rpm" >"$work/$name.list"
done
for name in libwarmwire warmwire; do
	tar -tf "$packages/$name-$version-1-$machine.pkg.tar.zst" | sed 's|^|/|' >"$work/$name.pacman"
	sed -e '/^\/\./d' -e 's|/$||' "$work/$name.pacman" >"$work/all"
	while read -r path; do has "$work/all" "$path" "$name for pacman"; done <"$work/$name.list"
	sed -e '/^\/\./d' -e '/\/$/d' "$work/$name.pacman" >"$work/files"
	while read -r path; do has "$work/$name.list" "$path" "$name for rpm"; done <"$work/files"
done
for path in /usr/lib/warmwire/lib/libcurl.so.4 /usr/lib/warmwire/lib/libcurl.a /usr/bin/warmwire-run \
	/usr/lib/warmwire/include/curl/warmwire.h /usr/share/licenses/libwarmwire/LICENSE-MIT; do
	has "$work/libwarmwire.list" "$path" libwarmwire
done
has "$work/warmwire.list" /usr/bin/warmwire warmwire
has "$work/warmwire.list" /usr/share/man/man1/warmwire.1.gz warmwire
has "$work/warmwire.list" /usr/share/zsh/site-functions/_warmwire warmwire
has "$work/libcurl-warmwire.list" /usr/lib64/libcurl.so.4 libcurl-warmwire
rpm -qp --provides "$packages/libcurl-warmwire-$version-1.$machine.rpm" >"$work/provides"
has "$work/provides" "libcurl.so.4()(64bit)" libcurl-warmwire
grep -q '^libcurl = 8\.' "$work/provides" || failed "libcurl-warmwire provides no libcurl"
echo "ok: contents of the packages"

# package NAME TREE, with other fields as input: a stand-in of a distribution, in the repository.
mkdir -p "$work/repository" "$work/site"
package() {
	{
		printf 'name: %s\narch: %s\nplatform: linux\nversion: 7.0.0\nrelease: "1"\n' "$1" "$(dpkg --print-architecture)"
		printf 'maintainer: nobody <nobody@example.org>\ndescription: stand-in\nlicense: none\n'
		cat
	} >"$work/$1.yaml"
	"$nfpm" package --config "$work/$1.yaml" --packager rpm --target "$work/repository" >/dev/null
}
for name in libwarmwire warmwire; do rpm -qp --requires "$packages/$name-$version-1.$machine.rpm"; done |
	sed -n 's/^lib.*(64bit)$/"&"/p' | sort -u | paste -sd, >"$work/wanted"
package base <<FIELDS
provides: [$(cat "$work/wanted")]
FIELDS
system=$(ldconfig -p | sed -n 's/.* => \(.*libcurl\.so\.4\)$/\1/p' | head -n 1)
package libcurl <<FIELDS
provides: ["libcurl.so.4()(64bit)"]
contents:
  - {src: "$(readlink -f "$system")", dst: /usr/lib64/libcurl.so.4}
FIELDS
package program <<FIELDS
depends: ["libcurl.so.4()(64bit)", base]
FIELDS
cp "$packages"/*.rpm "$work/repository/"
createrepo_c -q "$work/repository"

mmdebstrap --quiet --variant=apt --include=curl "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$root"
echo "hello from the server" >"$work/site/file"
python3 -u -m http.server 0 --bind 127.0.0.1 --directory "$work/site" >"$work/server.log" 2>&1 &
server=$!
port=
while [ -z "$port" ]; do
	kill -0 "$server"
	sleep 0.1
	port=$(sed -n 's/.* port \([0-9]*\) .*/\1/p' "$work/server.log")
done

run_dnf() {
	dnf -q -y --installroot="$root" --releasever=1 --repofrompath="tried,$work/repository" --repo=tried --nogpgcheck \
		--setopt=install_weak_deps=False --setopt=cachedir="$work/cache" --setopt=reposdir="$work" "$@" >"$work/dnf.log" 2>&1 ||
		{ cat "$work/dnf.log"; failed "dnf $*"; }
}
# is_warmwire yes|no WHEN: Debian's curl makes a transfer by the library in /usr/lib64, and names it.
is_warmwire() {
	chroot "$root" env LD_LIBRARY_PATH=/usr/lib64 curl -sS "http://127.0.0.1:$port/file" >"$work/got"
	has "$work/got" "hello from the server" "$2"
	chroot "$root" env LD_LIBRARY_PATH=/usr/lib64 curl --version >"$work/got"
	found=no
	! grep -q Warmwire "$work/got" || found=yes
	[ "$found" = "$1" ] || failed "$2: Warmwire is loaded: $found"
	echo "ok: $2"
}
transfer() {
	[ "$(chroot "$root" warmwire -sS "http://127.0.0.1:$port/file")" = "hello from the server" ] || failed "$1"
	echo "ok: $1"
}
# nothing_left WHEN: the root has no file of ours.
nothing_left() {
	left=$(find "$root" -xdev \( -iname '*warmwire*' -o -path "$root/usr/lib64/libcurl*" \) ! -path '*/var/*')
	[ -z "$left" ] || failed "$1: $left"
	echo "ok: $1"
}

run_dnf install program libcurl
is_warmwire no "a program on the distribution's library"
run_dnf swap libcurl libcurl-warmwire
is_warmwire yes "the program after dnf swap"
run_dnf install warmwire
transfer "a transfer of the tool from rpm"
run_dnf swap libcurl-warmwire libcurl
is_warmwire no "the program after dnf swap back"
run_dnf remove program libcurl base warmwire libwarmwire
nothing_left "dnf leaves nothing behind"
tried "contents; installed, used and removed by dnf in a fresh Debian" "$packages"/*.rpm
tried "in place of another libcurl and back by dnf swap" "$packages"/libcurl-warmwire-*.rpm

mkdir -p "$root/var/lib/pacman"
run_pacman() {
	pacman --root "$root" --dbpath "$root/var/lib/pacman" --cachedir "$work/cache" --config /dev/null --noconfirm "$@" \
		>"$work/pacman.log" 2>&1 || { cat "$work/pacman.log"; failed "pacman $*"; }
}
run_pacman -Udd "$packages"/*.pkg.tar.zst
transfer "a transfer of the tool from pacman"
[ "$(chroot "$root" warmwire-run sh -c 'echo "$LD_LIBRARY_PATH"')" = /usr/lib/warmwire/lib ] || failed "warmwire-run"
run_pacman -Rdd warmwire libwarmwire
nothing_left "pacman leaves nothing behind"
tried "contents; installed, used and removed by pacman in a fresh Debian" "$packages"/*.pkg.tar.zst

# An apk is three streams of gzip, of which the last contains the files; `datahash` is its checksum.
for apk in "$packages"/*.apk; do
	[ -e "$apk" ] || { echo "left out: the package for apk needs the static tool (packaging/cross.sh)"; continue; }
	rm -rf "$work/apk"
	mkdir "$work/apk"
	tar -xzf "$apk" -C "$work/apk" 2>"$work/log" || { cat "$work/log"; failed "the package for apk is no archive"; }
	cp "$work/apk/.PKGINFO" "$work/info"
	for line in "pkgname = warmwire" "arch = $machine" "depend = ca-certificates-bundle"; do has "$work/info" "$line" "the package for apk"; done
	sum=$(sed -n 's/^datahash = //p' "$work/info")
	python3 - "$apk" "$sum" <<-'CHECK' || failed "the package for apk has another datahash"
		import hashlib, sys, zlib
		data, streams = open(sys.argv[1], "rb").read(), []
		while data:
		    stream = zlib.decompressobj(31)
		    stream.decompress(data)
		    rest = stream.unused_data
		    streams.append(data[: len(data) - len(rest)])
		    data = rest
		sys.exit(hashlib.sha256(streams[-1]).hexdigest() != sys.argv[2])
	CHECK
	for path in usr/bin/warmwire usr/share/man/man1/warmwire.1.gz usr/share/licenses/warmwire/LICENSE-MIT; do
		[ -s "$work/apk/$path" ] || failed "the package for apk lacks $path"
	done
	[ ! -e "$work/apk/usr/lib/systemd" ] || failed "the package for apk has units of systemd"
	[ "$(chroot "$work/apk" /usr/bin/warmwire -sS "http://127.0.0.1:$port/file")" = "hello from the server" ] || failed "the tool of the apk"
	echo "ok: the package for apk: fields, checksum, contents, a transfer in a root of its files alone"
	tried "fields, checksum, contents; transfers in a root of its files alone" "$apk"
done
