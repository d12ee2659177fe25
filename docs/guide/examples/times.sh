# Usage: times.sh URL. Shows where the time goes: name, connection, TLS, first byte, all.
warmwire -sS -o page -w '%{time_namelookup} %{time_connect} %{time_appconnect}
%{time_starttransfer} %{time_total}, new connections: %{num_connects}\n' "$1/bytes/100"
