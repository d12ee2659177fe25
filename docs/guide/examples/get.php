<?php
// Fetches the URL of the command line twice, each time with a fresh handle.
foreach ([1, 2] as $turn) {
    $curl = curl_init($argv[1]);
    curl_setopt($curl, CURLOPT_RETURNTRANSFER, true);
    $body = curl_exec($curl);
    if ($body === false) {
        exit(curl_error($curl) . "\n");
    }
    // 0 new connections: the request used one from the pool.
    $new = curl_getinfo($curl, CURLINFO_NUM_CONNECTS);
    echo strlen($body), " bytes, new connections: $new\n";
    curl_close($curl);
}
