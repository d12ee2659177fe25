#!/bin/sh
# Writes the tool's manual page and completions: texts.sh TOOL SHARE_FOLDER
#
# TOOL runs on this machine; its texts are the same for each processor. It calls itself `curl` there, for scripts that
# read them, and is installed as `warmwire`.
set -eu
tool=${1:?tool} share=${2:?folder}

mkdir -p "$share/man/man1"
"$tool" --generate man | sed -e '1s/CURL/WARMWIRE/' -e '3s/curl/warmwire/' -e '5s/curl/warmwire/' \
	-e '/^\.SH "EXAMPLES"/,$s/^curl /warmwire /' -e '/^\.SH "EXAMPLES"/,$s/| curl /| warmwire /' \
	>"$share/man/man1/warmwire.1"

complete() { # SHELL FILE; for the name warmwire alone: the distribution's curl has completions of its own
	mkdir -p "$(dirname "$share/$2")"
	"$tool" --generate "$1" | sed -e 's/^#compdef curl warmwire/#compdef warmwire/' -e 's/^complete -c curl /complete -c warmwire /' \
		-e 's/^\(complete .*\) curl warmwire$/\1 warmwire/' >"$share/$2"
}
complete bash bash-completion/completions/warmwire
complete zsh zsh/site-functions/_warmwire
complete fish fish/vendor_completions.d/warmwire.fish
