#!/bin/sh
# Link the shared library from the Rust static library and the C shim.
#
#   crates/capi/link.sh [--debug [--shared] | --quick] [--no-build] [--symbols] [--sanitize thread|address]
#   crates/capi/link.sh --nightly   only fetches the compiler that --sanitize needs, and says which it is
#
# Makes in target/release/lib (with --debug: target/debug/lib, with symbols and a dev build; with --sanitize:
# target/sanitize/KIND/lib, everything instrumented, std too, by the nightly compiler named below; with --quick, which
# compiles nothing: target/quick/lib, the shared library alone, of what `make demo` has compiled by the profile quick):
#   libcurl.so.4 (+ libcurl.so)   curl's symbols versioned CURL_OPENSSL_4 (what curl, cmake, php are linked against) and
#                                 CURL_GNUTLS_3 (git, python3-pycurl, WWW::Curl), and those of warmwire.h, WARMWIRE_1
#   libcurl-gnutls.so.4           a link to it: a process that loads both names has one library and one pool
#   libcurl.a                     one object, of which only the exports are global (not with --shared, for `make test`:
#                                 it takes longer than the shared library, and most tests load that)
#   libcurl.pc, curl-config, CURLConfig*.cmake   with the prefix given in PREFIX (default /usr/local)
#
# The functions of a request stand together (warm.ld, written by `make warm`). --symbols makes one in
# target/release/symbols that has its names, and all functions in one section: valgrind knows no object for those in a second.
#
# Why a script and not rustc's cdylib or a build.rs: rustc writes its own version script for a cdylib and can't be
# given ours, and ld.so refuses a library whose nodes lack the one a program was linked with. The C shim is compiled
# here, next to the one link that needs it, so that `cargo build` and `cargo test` need no C compiler and no `cc` crate.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
CC=${CC:-cc}
profile=release flags="--release" optimise="-O2" strip="-s" build=yes sanitizer= symbols= shared=
while [ $# -gt 0 ]; do
  arg=$1
  shift
  case $arg in
    --sanitize) sanitizer=$1; shift ;;
    --nightly) build=nightly ;;
    --debug) profile=debug flags="" optimise="-O1 -g" strip="" ;;
    --quick) profile=quick build=no ;;
    --no-build) build=no ;;
    --symbols) symbols=yes ;;
    --shared) shared=yes ;;
    *) echo "usage: link.sh [--debug [--shared] | --quick] [--no-build] [--symbols] [--sanitize KIND]" >&2; exit 2 ;;
  esac
done

warm=yes
[ -z "$symbols" ] || strip= warm=

# A test program has the variables of its package from cargo. ring's build script runs again when they differ, and most
# crates would be compiled again, here and by the next cargo.
for name in $(env | sed -n 's/^\(CARGO_PKG_[A-Z_]*\|CARGO_MANIFEST_[A-Z_]*\)=.*/\1/p'); do unset "$name"; done

cd "$root"
archive=$target/$profile/libwarmwire_capi.a
out=$target/$profile/lib
[ -z "$symbols" ] || out=$target/$profile/symbols
work=$target/$profile/link
undefined="-Wl,--no-undefined"

# Only a nightly compiler instruments; a dated one, so that a day's compiler fault is not ours. Its sanitizer runtime
# belongs into the program (lib/runtime.a): the library leaves its symbols open.
nightly=nightly-2026-03-01
fetch() {
  rustup toolchain list | grep -q "^$nightly" || rustup toolchain install "$nightly" --profile minimal -c rust-src
}
sanitized() {
  fetch
  triple=$(rustc "+$nightly" --print host-tuple)
  RUSTFLAGS="-Zsanitizer=$sanitizer --cfg warmwire_sanitized" CARGO_TARGET_DIR=$target/sanitize/$sanitizer cargo "+$nightly" build -q \
    -Zbuild-std --target "$triple" -p warmwire-capi --lib --release --config profile.release.lto=false \
    --config profile.release.opt-level=1 --config profile.release.codegen-units=16 \
    --config 'profile.release.debug="line-tables-only"'
  archive=$target/sanitize/$sanitizer/$triple/release/libwarmwire_capi.a
  out=$target/sanitize/$sanitizer/lib
  work=$target/sanitize/$sanitizer/link
  optimise="-O1 -g -fsanitize=$sanitizer" strip="" undefined=""
  case $sanitizer in thread) short=tsan ;; address) short=asan ;; esac
  mkdir -p "$out"
  cp "$(rustc "+$nightly" --print sysroot)/lib/rustlib/$triple/lib/librustc-nightly_rt.$short.a" "$out/runtime.a"
}
if [ $build = nightly ]; then fetch >&2; echo "$nightly"; exit; fi
# Two tests that need the library at the same time: the second waits, and finds it linked.
mkdir -p "$target"
if command -v flock >/dev/null; then exec 8>"$target/link-$profile$sanitizer.lock"; flock 8; fi
if [ -n "$sanitizer" ]; then sanitized; elif [ $profile = debug ] && [ $build = yes ]; then
  # The crates that `cargo test --workspace` compiles: with `-p` there are fewer features, and most crates are compiled again.
  sh "$root/tests/cargo.sh" build -q --workspace --lib --test launchers
elif [ $build = yes ]; then
  # The one kind alone: beside an rlib cargo leaves link-time optimisation out, without a word.
  cargo rustc -q -p warmwire-capi --lib --crate-type staticlib $flags
fi
mkdir -p "$out" "$work"

facts=$target/debug/tables-facts
if [ $profile = quick ]; then facts=$target/quick/tables-facts; else cargo build -q -p warmwire-tables --bin tables-facts; fi
fact() { "$facts" "$1"; }
# A development build is linked again only after a change: the tests ask for it several times.
terms="$CC ${CFLAGS:-} ${LDFLAGS:-} ${PREFIX:-}"
linked() {
  [ $profile = debug ] && [ -z "$sanitizer$symbols" ] && [ -e "$out/libcurl.so.4" ] && { [ -n "$shared" ] || [ -e "$out/libcurl.a" ]; } &&
    [ "$(cat "$work/linked" 2>/dev/null)" = "$terms" ] &&
    [ -z "$(find "$archive" "$facts" "$here/link.sh" "$here/warm.ld" "$here/shim" "$here/install" -newer "$work/linked")" ]
}
if linked; then exit; fi
rm -f "$work/linked"
begun=$work/begun
touch "$begun"
exports=$(fact exports)
own=$(fact own-exports)
# shellcheck disable=SC2086
# -fexceptions: an exception of the application's may pass through the shim.
shim() { $CC -c $optimise -fexceptions -fPIC -fvisibility=hidden -Wall -Wextra -Werror ${CFLAGS:-} "$@" "$here/shim/variadic.c"; }
shim -o "$work/variadic.o"

# The symbols of CURL_GNUTLS_3: a jump each, to the function of CURL_OPENSSL_4 or to that of the other flavour, for the
# functions that name the TLS library (pycurl refuses to load if the name differs from the one that it was built with).
case $($CC -dumpmachine) in aarch64*) jump=b ;; x86_64*) jump=jmp ;; *) echo "link.sh: no jump known for $($CC -dumpmachine)" >&2; exit 1 ;; esac
for name in $exports; do
  case $name in
    curl_version | curl_version_info | curl_global_sslset) function=warmwire_gnutls_${name#curl_} ;;
    *) function=$name ;;
  esac
  printf '.globl gnutls_%s\n.type gnutls_%s, %%function\ngnutls_%s: %s %s\n.symver gnutls_%s, %s@CURL_GNUTLS_3\n' \
    "$name" "$name" "$name" "$jump" "$function" "$name" "$name"
done > "$work/gnutls.s"
echo '.section .note.GNU-stack, "", %progbits' >> "$work/gnutls.s"
$CC -c -o "$work/gnutls.o" "$work/gnutls.s"
{
  echo "CURL_GNUTLS_3 { };"
  echo "CURL_OPENSSL_4 {"; echo " global:"; printf '  %s;\n' $exports; echo " local: *;"; echo "};"
  echo "WARMWIRE_1 {"; echo " global:"; printf '  %s;\n' $own; echo "};"
} > "$work/exports.map"
# -Bsymbolic-functions: a jump stays in this library also where another libcurl.so.4 was loaded before it.
# shellcheck disable=SC2086
$CC -shared -o "$out/libcurl.so.4.new" "$work/variadic.o" "$work/gnutls.o" -Wl,--whole-archive "$archive" -Wl,--no-whole-archive \
  -Wl,-soname,libcurl.so.4 -Wl,--version-script="$work/exports.map" -Wl,-Bsymbolic-functions ${warm:+"-Wl,-T,$here/warm.ld"} \
  -Wl,--gc-sections -Wl,-z,nodelete -Wl,-z,relro,-z,now -Wl,-z,noexecstack $undefined -Wl,--as-needed $strip ${LDFLAGS:-} \
  -lgcc_s -lpthread -ldl -lm -lc
mv -f "$out/libcurl.so.4.new" "$out/libcurl.so.4"
for name in libcurl.so libcurl-gnutls.so.4 libcurl-gnutls.so; do ln -sf libcurl.so.4 "$out/$name"; done

[ -z "$sanitizer$symbols" ] && [ $profile != quick ] || exit 0

# The static library: one relocatable object in which everything but the exports is local, so that a program can
# link it beside another Rust library. Sections stay apart: the program's own --gc-sections still works.
rm -f "$out/libcurl.a"
if [ -z "$shared" ]; then
  printf '%s\n' $exports $own > "$work/exports.txt"
  ${LD:-ld} -r -o "$work/all.o" --whole-archive "$archive" --no-whole-archive "$work/variadic.o"
  ${OBJCOPY:-objcopy} --keep-global-symbols="$work/exports.txt" --strip-debug -R .llvmbc -R .llvmcmd "$work/all.o" "$work/libcurl.o"
  rm -f "$work/all.o"
  ${AR:-ar} rcs "$out/libcurl.a" "$work/libcurl.o"
fi

for name in libcurl.pc curl-config CURLConfig.cmake CURLConfigVersion.cmake; do
  sed -e "s|@PREFIX@|${PREFIX:-/usr/local}|g" -e "s|@VERSION@|$(fact version)|g" -e "s|@VERNUM@|$(fact number)|g" \
    -e "s|@PROTOCOLS@|$(fact protocols)|g" -e "s|@PROTOCOLS_UPPER@|$(fact protocols | tr a-z A-Z)|g" \
    -e "s|@FEATURES@|$(fact features)|g" "$here/install/$name.in" > "$out/$name"
done
chmod +x "$out/curl-config"
# The time at which the link began: what changed since then is linked again.
echo "$terms" > "$work/linked"
touch -r "$begun" "$work/linked"
