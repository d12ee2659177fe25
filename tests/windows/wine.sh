# Sourced by what runs Wine, behind apart.sh: prepares one of the tests' own in target/wine, with no registry and no drives of the
# user's, no window, no question about .NET or a browser. Its server is started here, so that it has the /dev that apart.sh made, and
# stays until the script ends: a command starts ten times as fast.
: "${CARGO_TARGET_DIR:=target}"
mkdir -p "$CARGO_TARGET_DIR/wine"
WINEPREFIX=$(cd "$CARGO_TARGET_DIR/wine" && pwd)
# Names of files are UTF-8 here, whatever the language of who runs the tests.
export LC_ALL=C.UTF-8
export WINEPREFIX WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml=" CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER=wine
unset DISPLAY || true
wineserver -k 2>/dev/null || true
trap 'wineserver -k || true' EXIT
{ wineserver -p && wine wineboot --init; } >"$CARGO_TARGET_DIR/wine.log" 2>&1 || {
	echo "wine.sh: Wine does not start:" >&2
	tail -n 20 "$CARGO_TARGET_DIR/wine.log" >&2
	exit 1
}
system=$WINEPREFIX/drive_c/windows/system32
[ -e "$system/bcryptprimitives.dll" ] || x86_64-w64-mingw32-gcc -shared -O2 -Wall -Wextra -Werror \
	-o "$system/bcryptprimitives.dll" tests/windows/bcryptprimitives.c
