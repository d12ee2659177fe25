<?php
// Fetches a URL, and prints the code, the size and the message.
$handle = curl_init($argv[1]);
curl_setopt_array($handle, [CURLOPT_RETURNTRANSFER => true, CURLOPT_FOLLOWLOCATION => true, CURLOPT_TIMEOUT => 20]);
$body = curl_exec($handle);
echo curl_errno($handle), ' ', strlen((string)$body), ' ', curl_error($handle), "\n";
