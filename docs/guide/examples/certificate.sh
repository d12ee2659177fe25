# Usage: certificate.sh URL. Says how the server's certificate is judged by the authorities in ca.pem.
warmwire -s -o page --explain-cert --cacert ca.pem "$1" || echo "exit code $?"
