#!/bin/sh
# Runs a command that runs Wine. Wine's NUL is /dev/null, and as root a program that removes it, or renames a file over it, would
# take it from the whole machine: root gets a /dev of its own for the command and what it starts.
# Usage: tests/windows/apart.sh COMMAND...
set -eu
if [ "$(id -u)" != 0 ] || ! unshare --mount true 2>/dev/null; then exec "$@"; fi
exec unshare --mount sh -eu -c '
own=$(mktemp -d)
mount -t tmpfs -o mode=755 none "$own"
for name in null zero full random urandom tty; do cp -a "/dev/$name" "$own"; done
mkdir "$own/shm" "$own/pts"
mount --bind /dev/pts "$own/pts" || :
mount -t tmpfs none "$own/shm"
ln -s /proc/self/fd "$own/fd"
mount --move "$own" /dev 2>/dev/null || mount --rbind "$own" /dev
rmdir "$own" 2>/dev/null || :
exec "$@"' apart "$@"
