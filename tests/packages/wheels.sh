#!/bin/sh
# Tries the wheels: tests/packages/wheels.sh FOLDER_OF_WHEELS
#
# auditwheel agrees with the platform of each wheel, abi3audit with its stable ABI, and the metadata is whole. Then pip installs
# the wheel for glibc in fresh roots of three Debian releases, whose Pythons are 3.9, 3.11 and 3.13; each makes transfers
# and removes the package again. The wheel of another processor runs there under qemu (user mode). Python 3.12 and a Python
# on musl come by python/interpreters.sh. As root, with a Debian mirror.
set -eu
wheels=$(cd "${1:?folder of wheels}" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$here/tried.sh"
: "${CARGO_TARGET_DIR:=$root/target}"
tools=$(cd "$CARGO_TARGET_DIR" && pwd)/cross-tools
[ -x "$tools/bin/auditwheel" ] || { echo "left out: needs sh tests/install.sh cross"; exit 0; }
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
failed() { echo "not ok: $1"; exit 1; }
ok() { echo "ok: $1"; }
export PATH="$tools/bin:$PATH"

for wheel in "$wheels"/*.whl; do
	name=$(basename "$wheel" .whl)
	platform=${name##*-abi3-}
	case $platform in manylinux*) policy=manylinux_2_17 ;; *) policy=musllinux_1_2 ;; esac
	case $platform in *_x86_64) cpu=x86_64 ;; *) cpu=aarch64 ;; esac
	case $policy in
	# auditwheel knows musl's library by the name that Alpine gives it; the libraries of this machine are not looked at.
	musl*)
		auditwheel show --ldpaths "$work" "$wheel" >"$work/audit" 2>&1 || { cat "$work/audit"; failed "$name: auditwheel"; }
		grep -q "references no external versioned symbols" "$work/audit" &&
			[ "$(tr -d ' \n' <"$work/audit" | grep -o '{[^}]*}')" = '{"libc.so":null}' ] ||
			{ cat "$work/audit"; failed "$name asks for more than musl"; }
		audited="auditwheel finds no library but musl's"
		;;
	# An older platform would do, too: the name must not promise more than the wheel keeps.
	*)
		auditwheel show "$wheel" >"$work/audit" 2>&1 || { cat "$work/audit"; failed "$name: auditwheel"; }
		tr -s '\n' ' ' <"$work/audit" | grep -qE "consistent with the following platform tag: \"(${policy}|manylinux_2_(5|12))_$cpu\"" ||
			{ cat "$work/audit"; failed "$name: auditwheel does not agree"; }
		audited="auditwheel agrees"
		;;
	esac
	abi3audit --strict --report "$wheel" >"$work/abi3" 2>"$work/errors" || { cat "$work/abi3" "$work/errors"; failed "$name: abi3audit"; }
	/usr/bin/python3 -m zipfile -l "$wheel" | awk '{print $1}' >"$work/list"
	for path in METADATA RECORD licenses/LICENSE-MIT licenses/LICENSE-APACHE; do
		grep -q "^warmwire-.*\.dist-info/$path\$" "$work/list" || failed "$name lacks $path"
	done
	/usr/bin/python3 -c 'import sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
print(wheel.read(next(n for n in wheel.namelist() if n.endswith(".dist-info/METADATA"))).decode())' "$wheel" >"$work/metadata"
	for field in "Name: warmwire" "License-Expression: MIT OR Apache-2.0" "License-File: LICENSE-MIT" "License-File: LICENSE-APACHE" \
		"Author: Warmwire contributors" "Requires-Python: >=3.9" "Summary: " "Keywords: " "Classifier: Typing :: Typed" \
		"Project-URL: " "Description-Content-Type: text/markdown"; do
		grep -q "^$field" "$work/metadata" || { sed '/^$/q' "$work/metadata"; failed "$name: no $field"; }
	done
	ok "$name: $audited, abi3audit and metadata"
	tried "$audited, abi3audit too" "$wheel"
done

[ "$(id -u)" = 0 ] || { echo "left out: the wheels are installed as root"; exit 0; }
command -v mmdebstrap >/dev/null || { echo "left out: needs mmdebstrap"; exit 0; }
mkdir -p "$work/site"
echo "hello from the server" >"$work/site/file"
python3 -u -m http.server 0 --bind 127.0.0.1 --directory "$work/site" >"$work/server.log" 2>&1 &
server=$!
port=
while [ -z "$port" ]; do kill -0 "$server"; sleep 0.1; port=$(sed -n 's/.* port \([0-9]*\) .*/\1/p' "$work/server.log"); done

for suite in bullseye bookworm trixie; do
	fresh=$work/$suite
	mmdebstrap --quiet --variant=apt --include=python3-venv "$suite" "$fresh" >"$work/log" 2>&1 || { cat "$work/log"; failed "a root of $suite"; }
	cp "$wheels"/*manylinux*"$(uname -m)".whl "$fresh/tmp/"
	cp "$here/wheel.py" "$fresh/tmp/"
	chroot "$fresh" sh -ec "python3 -m venv /tmp/fresh && /tmp/fresh/bin/pip install -q --disable-pip-version-check --no-index /tmp/*.whl
		/tmp/fresh/bin/python /tmp/wheel.py http://127.0.0.1:$port/file
		/tmp/fresh/bin/pip uninstall -q -y warmwire" >"$work/log" 2>&1 || { cat "$work/log"; failed "the wheel on $suite"; }
	left=$(find "$fresh" -xdev -iname '*warmwire*' ! -name '*.whl')
	[ -z "$left" ] || failed "the wheel on $suite leaves $left"
	ok "$(sed -n 's/^Python/the wheel on Python/p' "$work/log") of $suite: transfers, removed without a trace"
	tried "transfers on $(sed -n 's/^Python/Python/p' "$work/log"), removed without a trace" "$wheels"/*manylinux*"$(uname -m)".whl
done

# Another processor: Debian's Python for it, unpacked and not configured, under qemu.
for wheel in "$wheels"/*manylinux*.whl; do
	case $wheel in *_x86_64.whl) cpu=x86_64 ;; *) cpu=aarch64 ;; esac
	[ "$cpu" != "$(uname -m)" ] || continue
	command -v "qemu-$cpu" >/dev/null || { echo "left out: $(basename "$wheel") needs qemu-$cpu"; continue; }
	case $cpu in aarch64) architecture=arm64 ;; *) architecture=$cpu ;; esac
	fresh=$work/$cpu
	mmdebstrap --quiet --variant=extract --architectures="$architecture" --include=python3-minimal,libpython3-stdlib,libgcc-s1 bookworm "$fresh" \
		>"$work/log" 2>&1 || { cat "$work/log"; failed "a root for $cpu"; }
	mkdir "$work/modules-$cpu"
	python3 -m zipfile -e "$wheel" "$work/modules-$cpu"
	"qemu-$cpu" -L "$fresh" -E "PYTHONPATH=$work/modules-$cpu" -E "PYTHONHOME=$fresh/usr" "$fresh"/usr/bin/python3.[0-9]* \
		"$here/wheel.py" "http://127.0.0.1:$port/file" >"$work/log" 2>&1 || { cat "$work/log"; failed "the wheel for $cpu"; }
	ok "the wheel for $cpu under qemu: transfers"
	tried "transfers on $(sed -n 's/^Python/Python/p' "$work/log") under qemu" "$wheel"
done

# Interpreters without pip: that of another one installs into a folder, by the tags of the wheel.
for interpreter in 3.12 musl; do
	python=$(sh "$root/python/interpreters.sh" "$interpreter")
	case $interpreter in musl) platform=musllinux_1_2 ;; *) platform=manylinux_2_17 ;; esac
	platform=${platform}_$(uname -m)
	"$tools/bin/pip" install -q --disable-pip-version-check --no-index --no-deps --only-binary=:all: --platform "$platform" \
		--python-version "$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')" --target "$work/modules-$interpreter" \
		"$wheels"/*"$platform".whl >"$work/log" 2>&1 || { cat "$work/log"; failed "pip installs no wheel for $platform"; }
	PYTHONPATH=$work/modules-$interpreter "$python" "$here/wheel.py" "http://127.0.0.1:$port/file" >"$work/log" 2>&1 ||
		{ cat "$work/log"; failed "the wheel for $platform on Python $interpreter"; }
	ok "$(sed -n 's/^Python/the wheel on Python/p' "$work/log") ($interpreter): transfers"
	tried "transfers on $(sed -n 's/^Python/Python/p' "$work/log")$(case $interpreter in musl) echo ' on musl' ;; esac)" "$wheels"/*"$platform".whl
done
for wheel in "$wheels"/*musllinux*.whl; do
	case $wheel in *"$(uname -m)".whl) ;; *) echo "left out: $(basename "$wheel"): no Python on musl for another processor" ;; esac
done
