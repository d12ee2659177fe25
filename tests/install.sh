#!/bin/sh
# Installs what the tests use: Debian packages (as root, or through sudo); pycurl, built from source, and tornado in a
# virtual environment under target/; a program on the Rust `curl` crate. Does nothing where all is there. h2specd, which only
# `make test-deep` uses, is built when it is asked for.
# Usage: tests/install.sh [packages] [pycurl] [curl_crate] [ftp_servers] [h2spec]
set -eu
cd "$(dirname "$0")/.."
: "${CARGO_TARGET_DIR:=target}"

missing_packages() {
	sed -e 's/#.*//' -e '/^[[:space:]]*$/d' tests/packages.txt | while read -r package; do
		dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || echo "$package"
	done
}

packages() {
	command -v dpkg-query >/dev/null || {
		echo "install.sh: this is not a Debian; have these at hand: $(sed -e 's/#.*//' tests/packages.txt | xargs)" >&2
		return 0
	}
	missing=$(missing_packages | xargs)
	[ -n "$missing" ] || return 0
	if [ "$(id -u)" = 0 ]; then as_root=; elif sudo -n true 2>/dev/null; then as_root="sudo -n"; else
		echo "install.sh: missing packages, and neither root nor sudo to install them. Please run:" >&2
		echo "  apt-get install --no-install-recommends $missing" >&2
		return 1
	fi
	echo "installing $missing"
	export DEBIAN_FRONTEND=noninteractive
	# Servers come to be launched by the tests on ports of their own, not to serve this machine.
	policy=/usr/sbin/policy-rc.d
	if [ ! -e $policy ]; then
		printf '#!/bin/sh\nexit 101\n' | $as_root tee $policy >/dev/null && $as_root chmod +x $policy
		trap '$as_root rm -f '$policy EXIT
	fi
	install="$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends"
	# shellcheck disable=SC2086 # words are meant to be split
	$install $missing >"$CARGO_TARGET_DIR/apt.log" 2>&1 || {
		$as_root apt-get update -q >>"$CARGO_TARGET_DIR/apt.log" 2>&1 || true
		$install $missing >>"$CARGO_TARGET_DIR/apt.log" 2>&1 || {
			echo "install.sh: apt-get could not install $missing:" >&2
			tail -n 20 "$CARGO_TARGET_DIR/apt.log" >&2
			return 1
		}
	}
}

# From source, against the distribution's headers: the binary wheel carries a libcurl of its own.
pycurl() {
	venv=$CARGO_TARGET_DIR/pycurl
	[ -x "$venv/bin/python" ] && "$venv/bin/python" -c 'import pycurl, tornado' 2>/dev/null && return 0
	echo "building pycurl from source"
	/usr/bin/python3 -m venv "$venv"
	PYCURL_SSL_LIBRARY=openssl "$venv/bin/pip" install -q --disable-pip-version-check --no-binary pycurl pycurl tornado \
		>"$CARGO_TARGET_DIR/pycurl.log" 2>&1 || {
		echo "install.sh: pycurl did not build:" >&2
		tail -n 20 "$CARGO_TARGET_DIR/pycurl.log" >&2
		return 1
	}
}

# FTP servers that conflict with one another as packages: unpacked side by side, with the libraries that they ask for. And one
# in Python.
ftp_servers() {
	servers=$CARGO_TARGET_DIR/servers
	if command -v apt-get >/dev/null && [ ! -x "$servers/usr/sbin/pure-ftpd" ]; then
		echo "unpacking proftpd and pure-ftpd"
		mkdir -p "$servers/packages"
		packages="proftpd-core proftpd-mod-crypto pure-ftpd pure-ftpd-common
			libhashkit2 libhiredis0.14 libmemcached11 libmemcachedutil2 libpcre2-posix3 libsodium23"
		log=$CARGO_TARGET_DIR/ftp-servers.log
		# shellcheck disable=SC2086 # words are meant to be split
		download() { (cd "$servers/packages" && apt-get download -q $packages) >>"$log" 2>&1; }
		# Lists that are missing or old are the usual reason; without root the first try is all there is.
		download || { apt-get update -q >>"$log" 2>&1 && download; } || {
			echo "install.sh: apt-get could not download the FTP servers:" >&2
			tail -n 20 "$log" >&2
			return 1
		}
		for package in "$servers"/packages/*.deb; do
			dpkg -x "$package" "$servers"
		done
	fi
	venv=$CARGO_TARGET_DIR/pyftpdlib
	[ -x "$venv/bin/python" ] && "$venv/bin/python" -c 'import pyftpdlib, OpenSSL' 2>/dev/null && return 0
	echo "installing pyftpdlib"
	/usr/bin/python3 -m venv "$venv"
	"$venv/bin/pip" install -q --disable-pip-version-check pyftpdlib pyopenssl >"$CARGO_TARGET_DIR/pyftpdlib.log" 2>&1 || {
		echo "install.sh: pyftpdlib did not install:" >&2
		tail -n 20 "$CARGO_TARGET_DIR/pyftpdlib.log" >&2
		return 1
	}
}

# A workspace of its own, so that a crate that links the C library never meets ours; linked with the distribution's.
curl_crate() {
	cargo build --quiet --locked --manifest-path tests/servers/curl-crate/Cargo.toml \
		--target-dir "$CARGO_TARGET_DIR/curl-crate"
}

# The client side of h2spec, of the versions that tests/h2spec pins.
h2spec() {
	program=$(cd "$CARGO_TARGET_DIR" && pwd)/h2spec/h2specd
	[ -x "$program" ] && return 0
	echo "building h2specd"
	(cd tests/h2spec && GOFLAGS=-mod=readonly go build -o "$program" github.com/summerwind/h2spec/cmd/h2specd) \
		>"$CARGO_TARGET_DIR/h2spec.log" 2>&1 || {
		echo "install.sh: h2specd did not build:" >&2
		tail -n 20 "$CARGO_TARGET_DIR/h2spec.log" >&2
		return 1
	}
}

mkdir -p "$CARGO_TARGET_DIR"
[ $# -gt 0 ] || set -- packages pycurl curl_crate ftp_servers
for step; do
	case $step in
	packages | pycurl | curl_crate | ftp_servers | h2spec) $step ;;
	*) echo "install.sh: unknown step $step" >&2 && exit 2 ;;
	esac
done
