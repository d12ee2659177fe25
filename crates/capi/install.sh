#!/bin/sh
# Install what link.sh made: install.sh LIB_DIR DESTINATION [PREFIX]
# DESTINATION is where files are put (DESTDIR and prefix), PREFIX what they say of themselves (default DESTINATION).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
lib=${1:?library folder} dest=${2:?destination} prefix=${3:-$2}
mkdir -p "$dest/lib/pkgconfig" "$dest/lib/cmake/CURL" "$dest/include/curl" "$dest/bin"
install -m 755 "$lib/libcurl.so.4" "$dest/lib/libcurl.so.4"
for name in libcurl.so libcurl-gnutls.so.4 libcurl-gnutls.so; do ln -sf libcurl.so.4 "$dest/lib/$name"; done
install -m 644 "$lib/libcurl.a" "$dest/lib/libcurl.a"
install -m 644 "$root"/include/curl/*.h "$dest/include/curl/"
sed "s|^prefix=.*|prefix=$prefix|" "$lib/libcurl.pc" > "$dest/lib/pkgconfig/libcurl.pc"
sed "s|^prefix=.*|prefix=$prefix|" "$lib/curl-config" > "$dest/bin/curl-config"
chmod 755 "$dest/bin/curl-config"
for name in CURLConfig.cmake CURLConfigVersion.cmake; do
  install -m 644 "$lib/$name" "$dest/lib/cmake/CURL/$name"
done
