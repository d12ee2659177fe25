# Usage: cookies.sh URL. The first command logs in, the second one sends its cookie.
warmwire -sS -o reply -c jar.txt "$1/cookies/set/session/abc"
warmwire -sS -b jar.txt "$1/cookies"
