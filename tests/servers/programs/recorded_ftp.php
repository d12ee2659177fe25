<?php
// Fetches a file three times and its folder once, and prints all that it gets. Arguments: the two URLs.

function show(string $name, CurlHandle $easy): void
{
    $lines = '';
    curl_setopt_array($easy, [
        CURLOPT_FILETIME => true,
        CURLOPT_HEADERFUNCTION => function ($easy, $line) use (&$lines) {
            $lines .= $line;
            return strlen($line);
        },
        CURLOPT_RETURNTRANSFER => true,
    ]);
    $body = curl_exec($easy);
    echo "$name ", curl_errno($easy), ' ', curl_error($easy), "\n", $lines;
    foreach ([CURLINFO_RESPONSE_CODE, CURLINFO_FILETIME, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, CURLINFO_PRIMARY_IP] as $info) {
        echo json_encode(curl_getinfo($easy, $info)), ' ';
    }
    echo "\n", strlen((string)$body), ' ', md5((string)$body), "\n";
}

[, $file, $folder] = $argv;
show('file', curl_init($file));
show('file', curl_init($file));
$kept = curl_init($folder);
show('list', $kept);
curl_setopt($kept, CURLOPT_URL, $file);
show('kept', $kept);
curl_setopt($kept, CURLOPT_URL, "$file-missing");
show('missing', $kept);
