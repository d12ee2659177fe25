# Usage: checked.sh URL. Fetches a file over four connections; after a cut, requests only the rest.
warmwire -sS --segments 4 --retry 3 --retry-resume -o file "$1/bytes/200000"
