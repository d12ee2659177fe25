#!/bin/sh
# Programs on libcurl: programs.sh ADDRESS WORD. ADDRESS is where tests/packages/site.sh's folder is served, by HTTPS with
# a certificate that the system trusts. Each program makes a transfer. WORD is in the version of the library, which those
# programs check that can name it. /proc is mounted.
set -eu
server=$1 word=$2 hello="hello from the server"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
export HOME="$tmp"

is() {
	case $3 in "$2"*) echo "$1" ;; *) echo "$1: wanted \"$2\", got \"$3\""; exit 1 ;; esac
}
on() {
	case $2 in *"$word"*) ;; *) echo "$1 runs on $2, not on $word"; exit 1 ;; esac
}

is php-curl "$hello" "$(php -r '$c = curl_init($argv[1]); curl_setopt($c, CURLOPT_RETURNTRANSFER, true); echo curl_exec($c);' "$server/file")"
on php-curl "libcurl/$(php -r 'echo curl_version()["version"], " ", curl_version()["ssl_version"];')"

is pycurl "$hello" "$(python3 -c 'import pycurl, sys
c = pycurl.Curl()
c.setopt(c.URL, sys.argv[1])
c.perform()' "$server/file")"
on pycurl "$(python3 -c 'import pycurl; print(pycurl.version)')"

is WWW::Curl "$hello" "$(perl -MWWW::Curl::Easy -e 'my $c = WWW::Curl::Easy->new;
$c->setopt(CURLOPT_URL, $ARGV[0]);
$c->perform == 0 or die;' "$server/file")"
on WWW::Curl "$(perl -MWWW::Curl::Easy -e 'print WWW::Curl::Easy::version()')"

git clone -q "$server/greeting.git" by-git
is git "$hello" "$(cat by-git/file)"

echo "file(DOWNLOAD $server/file by-cmake STATUS status)
message(\"\${status}\")" >try.cmake
cmake -P try.cmake >cmake.log 2>&1 || { cat cmake.log; exit 1; }
is cmake "$hello" "$(cat by-cmake)"

is r-cran-curl "$hello" "$(Rscript -e 'library(curl)
cat(rawToChar(curl_fetch_memory(commandArgs(TRUE))$content))' "$server/file" 2>/dev/null)"
on r-cran-curl "$(Rscript -e 'library(curl); v <- curl_version(); cat("libcurl/", v$version, v$ssl_version, sep = "")' 2>/dev/null)"

is gdal "Driver: AAIGrid" "$(gdalinfo "/vsicurl/$server/grid.asc" 2>&1)"

ostree --repo=by-ostree init --mode=bare-user-only
ostree --repo=by-ostree remote add --no-gpg-verify tried "$server/ostree"
ostree --repo=by-ostree pull tried main >ostree.log 2>&1 || { cat ostree.log; exit 1; }
is ostree "$hello" "$(ostree --repo=by-ostree cat tried:main file)"

mkdir -p by-pacman/db
printf '[options]\nArchitecture = auto\nSigLevel = Never\n[tried]\nServer = %s/pacman\n' "$server" >pacman.conf
pacman --config pacman.conf --root by-pacman --dbpath by-pacman/db --logfile /dev/null -Sy >pacman.log 2>&1 || { cat pacman.log; exit 1; }
is pacman "tried greeting 1.0-1" "$(pacman --config pacman.conf --root by-pacman --dbpath by-pacman/db -Sl tried)"

mkdir by-zypper
zypper -q --non-interactive --root "$tmp/by-zypper" ar --no-gpgcheck --refresh "$server/rpm" tried >zypper.log 2>&1 || { cat zypper.log; exit 1; }
zypper -q --non-interactive --root "$tmp/by-zypper" --no-gpg-checks refresh >zypper.log 2>&1 || { cat zypper.log; exit 1; }
is zypper "$hello" "$(sed -n 's|.*<revision>\(.*\)</revision>.*|\1|p' by-zypper/var/cache/zypp/raw/tried/repodata/repomd.xml)"

# dnf's own work is librepo's.
is dnf "$hello" "$(dnf --installroot="$tmp/by-dnf" --releasever=1 --repofrompath="tried,$server/rpm" --repo=tried --nogpgcheck \
	--setopt=reposdir="$tmp" --setopt=cachedir="$tmp/dnf-cache" -v repolist 2>&1 | sed -n 's/^Repo-revision *: *//p')"
is librepo "$hello" "$(python3 -c 'import librepo, os, sys
fd = os.open("by-librepo", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
librepo.download_url(sys.argv[1], fd)
print(open("by-librepo").read())' "$server/file")"

is libfwupd "$hello" "$(python3 -c 'import gi, sys
gi.require_version("Fwupd", "2.0")
from gi.repository import Fwupd
client = Fwupd.Client()
client.set_user_agent("try/1.0 fwupd/" + Fwupd.version_string())
print(client.download_bytes(sys.argv[1], Fwupd.ClientDownloadFlags.NONE, None).get_data().decode())' "$server/file")"

# A release of cargo before 1.68 reads a sparse index only as an unstable feature.
mkdir -p by-cargo/src .cargo
printf '[package]\nname = "program"\nversion = "1.0.0"\nedition = "2021"\n[dependencies]\ngreeting = "1"\n' >by-cargo/Cargo.toml
echo 'fn main() {}' >by-cargo/src/main.rs
printf '[source.crates-io]\nreplace-with = "tried"\n[source.tried]\nregistry = "sparse+%s/index/"\n' "$server" >.cargo/config.toml
RUSTC_BOOTSTRAP=1 cargo -Z sparse-registry fetch -q --manifest-path by-cargo/Cargo.toml
is cargo "//! $hello" "$(cat .cargo/registry/src/*/greeting-1.0.0/src/lib.rs)"
on cargo "libcurl/$(cargo -Vv | sed -n 's/^libcurl: //p')"
