#!/bin/sh
# Link libcurl for Windows on x86-64, by mingw-w64's GCC (tests/install.sh windows has what it needs):
#
#   crates/capi/link-windows.sh [--debug] [--no-build]
#
# Makes in target/x86_64-pc-windows-gnu/release/lib (with --debug: of a dev build, with symbols):
#   libcurl-x64.dll    under the name of curl's own builds; leans on nothing but the system and msvcrt
#   libcurl-x64.def    its exports, for `lib /def:` of Microsoft's and other tool chains
#   libcurl.dll.a      the import library of GCC's and LLVM's linkers
#   libcurl.a          the static library; programs define CURL_STATICLIB
#   libcurl.pc         for pkg-config, with what the static library takes; its prefix is where it stands
#
# What link.sh says of the shim and of rustc's cdylib holds here, too. There are no symbol versions and there is one flavour.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
triple=x86_64-pc-windows-gnu
tool=x86_64-w64-mingw32
profile=release flags="--release" optimise="-O2" strip="-s" build=yes
for arg; do
  case $arg in
    --debug) profile=debug flags="" optimise="-O1 -g" strip="" ;;
    --no-build) build=no ;;
    *) echo "usage: link-windows.sh [--debug] [--no-build]" >&2; exit 2 ;;
  esac
done

cd "$root"
archive=$target/$triple/$profile/libwarmwire_capi.a
out=$target/$triple/$profile/lib
work=$target/$triple/$profile/link
mkdir -p "$out" "$work"

# Before Rust's side, whose archive takes it in: binutils takes the bitcode that std's objects have beside their code for
# another LLVM's, and would write an index without them.
# shellcheck disable=SC2086
$tool-gcc -c $optimise -fexceptions -Wall -Wextra -Werror ${CFLAGS:-} -o "$work/variadic.o" "$here/shim/variadic.c"
rm -f "$work/libwarmwire_shim.a"
$tool-ar rcs "$work/libwarmwire_shim.a" "$work/variadic.o"

if [ $build = yes ]; then
  absolute=$(cd "$work" && pwd)
  # rustc writes down which of the system's libraries its archive asks for. Nobody looks for lines in what is stripped.
  # shellcheck disable=SC2086
  CARGO_PROFILE_RELEASE_DEBUG=false cargo rustc -q -p warmwire-capi --lib --crate-type staticlib --target $triple $flags -- \
    -L "native=$absolute" -l static=warmwire_shim --print "native-static-libs=$absolute/system-libraries" 2>"$work/rustc.log" || { cat "$work/rustc.log" >&2; exit 1; }
fi
cp "$archive" "$out/libcurl.a"
# In the order and as often as it says: this linker looks at each once.
system=$(tail -n 1 "$work/system-libraries")

cargo build -q -p warmwire-tables --bin tables-facts
fact() { "$target/debug/tables-facts" "$1"; }
names=$(fact exports; fact own-exports)
# shellcheck disable=SC2086
{
  { echo "LIBRARY libcurl-x64.dll"; echo EXPORTS; printf '  %s\n' $names; } > "$out/libcurl-x64.def"
  # Of an archive only what somebody asks for is linked.
  printf -- '-Wl,-u,%s\n' $names > "$work/undefined"
  $tool-gcc -shared -static-libgcc $strip -o "$out/libcurl-x64.dll.new" "$out/libcurl-x64.def" \
    "@$work/undefined" "$archive" -Wl,--gc-sections -Wl,--no-insert-timestamp ${LDFLAGS:-} $system
}
mv -f "$out/libcurl-x64.dll.new" "$out/libcurl-x64.dll"
$tool-dlltool -d "$out/libcurl-x64.def" -D libcurl-x64.dll -l "$out/libcurl.dll.a"

# shellcheck disable=SC2016 # pkg-config's variables
sed -e 's|^prefix=.*|prefix=${pcfiledir}/../..|' -e "s|@VERSION@|$(fact version)|g" -e "s|@PROTOCOLS@|$(fact protocols)|g" \
  -e "s|@FEATURES@|$(fact features)|g" -e "s|^Libs.private:.*|Libs.private: $system|" \
  -e 's|^Cflags:.*|&\nCflags.private: -DCURL_STATICLIB|' "$here/install/libcurl.pc.in" > "$out/libcurl.pc"
