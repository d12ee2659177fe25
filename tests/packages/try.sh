#!/bin/sh
# Tries the Debian packages in a root that has never seen the project: tests/packages/try.sh FOLDER_OF_PACKAGES
#
# Makes a root by mmdebstrap with programs on both of the distribution's libcurl, installs the packages in their place,
# and lets each program make a transfer (tests/packages/programs.sh) before, with and after them. An older version, which
# is the same with another number and one file more, is installed first and upgraded. Needs root, mmdebstrap and a Debian
# mirror.
set -eu
packages=$(cd "${1:?folder of packages}" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
. "$here/tried.sh"
[ "$(id -u)" = 0 ] || { echo "left out: the packages are tried as root"; exit 0; }
command -v mmdebstrap >/dev/null || { echo "left out: needs mmdebstrap"; exit 0; }
work=$(mktemp -d)
root=$work/root
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT

# inside COMMAND...: runs it with the root as root directory, and with /proc, which ostree wants.
inside() { unshare -m sh -ec 'mount -t proc none "$1/proc"; exec chroot "$@"' sh "$root" "$@"; }
unshare -m true 2>/dev/null || { echo "left out: the kernel allows no mounts here"; exit 0; }
command -v createrepo_c >/dev/null || { echo "left out: needs createrepo_c"; exit 0; }

programs=ca-certificates,cargo,cmake,dnf,gdal-bin,gir1.2-fwupd-2.0,git,libwww-curl-perl,ostree,pacman-package-manager
programs=$programs,php-cli,php-curl,python3-gi,python3-librepo,python3-pycurl,r-cran-curl,zypper
mmdebstrap --quiet --variant=apt --include="$programs" "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$root"
mkdir "$root/packages" "$root/older" "$work/site"
cp "$packages"/*.deb "$root/packages/"
cp "$here/programs.sh" "$here/wheel.py" "$root/"

# The older version, in packages that depend on one another by its number.
version=$(dpkg-deb -f "$packages"/libwarmwire4_*.deb Version)
older=$version~older
for deb in "$packages"/*.deb; do
	dpkg-deb -R "$deb" "$work/deb"
	sed -i -e "s/^Version: .*/Version: $older/" -e "s/(= $version)/(= $older)/" "$work/deb/DEBIAN/control"
	touch "$work/deb/usr/share/doc/$(dpkg-deb -f "$deb" Package)/gone"
	dpkg-deb --root-owner-group -Znone --build "$work/deb" "$root/older/" >/dev/null
	rm -r "$work/deb"
done

if command -v lintian >/dev/null; then
	lintian --no-cfg --fail-on error,warning "$packages"/*.deb
	tried "lintian finds nothing" "$packages"/*.deb
	echo "ok: lintian finds nothing"
else
	echo "left out: needs lintian"
fi

# The site, by HTTP and HTTPS; the root trusts its certificate.
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
	-addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout "$work/key.pem" -out "$work/ca.pem" 2>/dev/null
cp "$work/ca.pem" "$root/usr/local/share/ca-certificates/tried.crt"
chroot "$root" update-ca-certificates >/dev/null 2>&1
/usr/bin/python3 -u "$here/serve.py" "$work/site" "$work/ca.pem" "$work/key.pem" >"$work/ports" 2>"$work/server.log" &
server=$!
until grep -q ready "$work/ports"; do kill -0 "$server"; sleep 0.1; done
http=http://127.0.0.1:$(sed -n 's/^http //p' "$work/ports") https=https://localhost:$(sed -n 's/^https //p' "$work/ports")
inside sh -ec 'mkdir /tmp/tree && echo "hello from the server" >/tmp/tree/file
	ostree --repo=/tmp/ostree init --mode=archive && ostree --repo=/tmp/ostree commit -b main --owner-uid=0 /tmp/tree' >/dev/null
sh "$here/site.sh" "$work/site" "$https" "$root/tmp/ostree"

# transfers WORD WHEN: runs all programs; WORD is in the version of the library that each of them names.
transfers() {
	inside sh /programs.sh "$https" "$1" >"$work/programs.log" 2>&1 || { cat "$work/programs.log"; echo "not ok: $2"; exit 1; }
	echo "ok: $2:" $(cat "$work/programs.log")
}
# in_root WHEN COMMAND: runs a command of apt or dpkg.
in_root() {
	chroot "$root" sh -c "$2" >"$work/apt.log" 2>&1 || { cat "$work/apt.log"; echo "not ok: $1"; exit 1; }
}

transfers libcurl/7 "programs on the distribution's library"
in_root "installing an older version" 'apt-get install -qq -y --no-install-recommends /older/*.deb'
transfers Warmwire "programs on the packages of an older version in its place"
in_root upgrading 'apt-get install -qq -y --no-install-recommends /packages/*.deb'
versions=$(chroot "$root" dpkg-query -W -f '${Version}\n' '*warmwire*' | sort -u)
[ "$versions" = "$version" ] || { echo "not ok: after the upgrade the versions are $versions"; exit 1; }
left=$(find "$root/usr/share/doc" -name gone)
[ -z "$left" ] || { echo "not ok: the upgrade leaves $left"; exit 1; }
echo "ok: an upgrade from $older"
transfers Warmwire "programs on the packages in its place"
[ "$(chroot "$root" warmwire -sS "$http/file")" = "hello from the server" ]
if [ -e "$packages"/python3-warmwire_*.deb ]; then
	chroot "$root" python3 /wheel.py "$http/file"
	echo "ok: the Python package"
else
	echo "left out: the Python package needs a wheel (packaging/cross.sh)"
fi
# Without lists apt takes the installed package for libcurl4, which it provides.
in_root "the distribution's library again" 'apt-get update -qq && apt-get install -qq -y libcurl4 libcurl3-gnutls'
transfers libcurl/7 "programs on the distribution's library again"
[ "$(chroot "$root" warmwire-run python3 -c 'import pycurl; print("Warmwire" in pycurl.version)')" = True ]
echo "ok: warmwire-run beside the distribution's library"
in_root purging 'dpkg --purge $(dpkg-query -W -f "\${Package} " "*warmwire*")'
left=$(find "$root" -xdev -iname '*warmwire*' ! -path "$root/packages/*" ! -path "$root/older/*" ! -path "$root/var/log/*")
[ -z "$left" ] || { echo "not ok: left behind: $left"; exit 1; }
echo "ok: nothing is left behind"
tried "in a fresh $(. "$root/etc/os-release" && echo "$PRETTY_NAME"): transfers, upgrade, purge without a trace" "$packages"/*.deb
