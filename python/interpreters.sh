#!/bin/sh
# Installs interpreters that no Debian release has, below target/interpreters/NAME, and prints the path of each:
# interpreters.sh NAME...
#
#   3.12           a Go module contains it
#   musl           3.13 on musl, dynamically linked, from Debian's source
#
# Needs a Debian mirror, a Go proxy, gcc, make and the package musl-tools. Needs no root.
set -eu
cd "$(dirname "$0")/.."
: "${CARGO_TARGET_DIR:=target}"
folder=$(mkdir -p "$CARGO_TARGET_DIR/interpreters" && cd "$CARGO_TARGET_DIR/interpreters" && pwd)

# One at a time: a second call waits, and finds what the first has built.
exec 9>"$folder/lock"
flock 9

# Shows the end of a log, for a command that failed.
failed() {
	echo "interpreters.sh: $1:" >&2
	tail -n 20 "$2" >&2
	exit 1
}

from_go_module() {
	module=github.com/kluctl/go-embed-python@v0.0.0-3.12.3-20240415-1
	case $(uname -m) in x86_64) cpu=amd64 ;; aarch64) cpu=arm64 ;; *) echo "interpreters.sh: no Python 3.12 for $(uname -m)" >&2 && exit 1 ;; esac
	log=$folder/3.12.log
	(cd "$folder" && GOFLAGS=-modcacherw GOMODCACHE="$folder/go" go mod download -json "$module") >"$log" 2>&1 || failed "no Go module" "$log"
	rm -rf "$folder/3.12"
	cp -r "$folder/go/${module}/python/internal/data/linux-$cpu" "$folder/3.12"
	rm -rf "$folder/go"
	chmod -R u+w "$folder/3.12"
	find "$folder/3.12" -name '*.gz' -exec gunzip -f {} +
	chmod +x "$folder/3.12/bin/python3.12"
	strip -g "$folder"/3.12/lib/libpython3.12.so.1.0
	ln -sf python3.12 "$folder/3.12/bin/python3"
}

# Debian's source of Python 3.13, whose signature and checksum apt checks. The machine's own lists stay as they are.
source_of_debian() {
	[ ! -f "$folder/source/configure" ] || return 0
	rm -rf "$folder/source" "$folder/apt"
	mkdir -p "$folder/apt/lists/partial"
	mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -v security | head -n 1)
	printf 'Types: deb-src\nURIs: %s\nSuites: trixie\nComponents: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n' \
		"$mirror" >"$folder/apt/debian.sources"
	log=$folder/source.log
	(cd "$folder/apt" && for step in update "source --download-only python3.13"; do
		# shellcheck disable=SC2086 # words are meant to be split
		apt-get -q -o Dir::Etc::sourcelist="$PWD/debian.sources" -o Dir::Etc::sourceparts=/dev/null -o Dir::State::lists="$PWD/lists" \
			-o Dir::Cache="$PWD" -o APT::Sandbox::User="$(id -un)" $step || exit 1
	done) >"$log" 2>&1 || failed "no source of Python" "$log"
	mkdir "$folder/source"
	tar -xf "$folder"/apt/python3.13_*.orig.tar.xz -C "$folder/source" --strip-components=1
	rm -rf "$folder/apt"
}

on_musl() {
	command -v musl-gcc >/dev/null || sh tests/install.sh musl >&2
	compiler=$folder/musl-cc
	# gcc itself names the directory of glibc here, and configure compares the names.
	cat >"$compiler" <<-SCRIPT
		#!/bin/sh
		[ "\$*" != --print-multiarch ] || { echo $(uname -m)-linux-musl; exit; }
		exec musl-gcc "\$@"
	SCRIPT
	chmod +x "$compiler"
	log=$folder/musl.log
	source_of_debian
	rm -rf "$folder/build" "$folder/musl"
	mkdir "$folder/build"
	# The libraries that this machine has are glibc's: none is searched. The interpreter is optimised a little, because a
	# whole optimisation takes ten times as long. The installation prints the help of what would compile all modules: that
	# takes longer than the interpreter.
	(cd "$folder/build" && ../source/configure --quiet --prefix="$folder/musl" --disable-test-modules --with-ensurepip=no \
		CC="$compiler" PKG_CONFIG=/bin/false CFLAGS=-O1 &&
		make -s -j"$(nproc)" && make -s install COMPILEALL_OPTS=--help) >"$log" 2>&1 || failed "Python on musl did not build" "$log"
	rm -rf "$folder/build"
}

for name; do
	program=$folder/$name/bin/python3
	if ! "$program" -c 'import socket, asyncio' 2>/dev/null; then
		echo "installing Python: $name" >&2
		case $name in
		3.12) from_go_module ;;
		musl) on_musl ;;
		*) echo "interpreters.sh: no interpreter $name" >&2 && exit 2 ;;
		esac
		"$program" -c 'import socket, asyncio' || { echo "interpreters.sh: $name does not work" >&2 && exit 1; }
	fi
	echo "$program"
done
