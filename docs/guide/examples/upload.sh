# Usage: upload.sh URL. Two uploads on one connection; the server's reply is the body that it got.
printf 'hello' >report.txt
warmwire -sS -T report.txt "$1/body" -T report.txt "$1/body"
