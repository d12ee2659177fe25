<?php
// Fetches a URL six times, with a handle for each request, and prints the address that each one reached, and how many connections it
// opened. After two requests the hosts file gets another address for the host; after four the look-ups are stale.
function fetch(): void
{
    global $argv;
    $handle = curl_init($argv[1]);
    curl_setopt_array($handle, [CURLOPT_RETURNTRANSFER => true, CURLOPT_TIMEOUT => 20, CURLOPT_DNS_CACHE_TIMEOUT => 1]);
    if (curl_exec($handle) === false) {
        echo curl_error($handle), "\n";
    }
    echo curl_getinfo($handle, CURLINFO_PRIMARY_IP), ' ', curl_getinfo($handle, CURLINFO_NUM_CONNECTS), "\n";
}
fetch();
fetch();
file_put_contents('/etc/hosts', $argv[2]);
fetch();
fetch();
usleep(1_100_000);
fetch();
fetch();
