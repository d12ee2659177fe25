#!/bin/sh
# Tries the Debian packages in a root that has never seen the project: tests/packages/try.sh FOLDER_OF_PACKAGES
#
# Makes a root by mmdebstrap with programs on both of the distribution's libcurl, installs the packages in their place,
# and lets each program make a transfer before, with and after them. Needs root, mmdebstrap and a Debian mirror.
set -eu
packages=$(cd "${1:?folder of packages}" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
[ "$(id -u)" = 0 ] || { echo "left out: the packages are tried as root"; exit 0; }
command -v mmdebstrap >/dev/null || { echo "left out: needs mmdebstrap"; exit 0; }
work=$(mktemp -d)
root=$work/root
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT

programs=ca-certificates,git,php-cli,php-curl,python3-pycurl,python3-librepo,libwww-curl-perl,cmake
mmdebstrap --quiet --variant=apt --include="$programs" "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$root"
mkdir "$root/packages" "$work/site"
cp "$packages"/*.deb "$root/packages/"
cp "$here/programs.sh" "$here/wheel.py" "$root/"

if command -v lintian >/dev/null; then
	lintian --no-cfg --fail-on error,warning "$packages"/*.deb
	echo "ok: lintian finds nothing"
else
	echo "left out: needs lintian"
fi

# The site: a file and a git repository.
echo "hello from the server" >"$work/site/file"
git init -q --bare "$work/site/empty.git" && git -C "$work/site/empty.git" update-server-info
python3 -u -m http.server 0 --bind 127.0.0.1 --directory "$work/site" >"$work/server.log" 2>&1 &
server=$!
port=
while [ -z "$port" ]; do
	kill -0 "$server"
	sleep 0.1
	port=$(sed -n 's/.* port \([0-9]*\) .*/\1/p' "$work/server.log")
done

# transfers WORD WHEN: runs all programs; WORD is in the version of the library that each of them names.
transfers() {
	chroot "$root" sh /programs.sh "http://127.0.0.1:$port" "$1" || { echo "not ok: $2"; exit 1; }
	echo "ok: $2"
}

transfers libcurl/7 "programs on the distribution's library"
chroot "$root" sh -c 'apt-get install -qq -y --no-install-recommends /packages/*.deb' >"$work/apt.log" 2>&1 ||
	{ cat "$work/apt.log"; exit 1; }
transfers Warmwire "programs on the packages in its place"
[ "$(chroot "$root" warmwire -sS "http://127.0.0.1:$port/file")" = "hello from the server" ]
chroot "$root" python3 /wheel.py "http://127.0.0.1:$port/file"
echo "ok: the Python package"
# Without lists apt takes the installed package for libcurl4, which it provides.
chroot "$root" sh -c 'apt-get update -qq && apt-get install -qq -y libcurl4 libcurl3-gnutls' >"$work/apt.log" 2>&1 || { cat "$work/apt.log"; exit 1; }
transfers libcurl/7 "programs on the distribution's library again"
[ "$(chroot "$root" warmwire-run python3 -c 'import pycurl; print("Warmwire" in pycurl.version)')" = True ]
echo "ok: warmwire-run beside the distribution's library"
chroot "$root" sh -c 'dpkg --purge python3-warmwire libcurl4-warmwire libcurl3-gnutls-warmwire libwarmwire-dev warmwire libwarmwire4' >"$work/apt.log" 2>&1 ||
	{ cat "$work/apt.log"; exit 1; }
left=$(find "$root" -xdev -iname '*warmwire*' ! -path "$root/packages/*" ! -path "$root/var/log/*")
[ -z "$left" ] || { echo "not ok: left behind: $left"; exit 1; }
echo "ok: nothing is left behind"
