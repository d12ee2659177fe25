<?php
// Prints all that it gets: the test compares the output of a recorded run with that of a replayed one.
// Arguments: URLs. CA is the file with the certificate authority, HTTP_VERSION a value of that option.

function show(string $name, CurlHandle $easy): void
{
    $lines = '';
    curl_setopt_array($easy, [
        CURLOPT_CAINFO => getenv('CA'),
        CURLOPT_COOKIEFILE => '',
        CURLOPT_FOLLOWLOCATION => true,
        CURLOPT_HTTP_VERSION => (int)getenv('HTTP_VERSION'),
        CURLOPT_HEADERFUNCTION => function ($easy, $line) use (&$lines) {
            $lines .= $line;
            return strlen($line);
        },
        CURLOPT_RETURNTRANSFER => true,
    ]);
    $body = curl_exec($easy);
    echo "$name ", curl_errno($easy), ' ', curl_error($easy), "\n", $lines;
    foreach ([CURLINFO_RESPONSE_CODE, CURLINFO_HTTP_VERSION, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, CURLINFO_SIZE_DOWNLOAD,
        CURLINFO_CONTENT_TYPE, CURLINFO_EFFECTIVE_URL, CURLINFO_REDIRECT_COUNT, CURLINFO_PRIMARY_IP] as $info) {
        echo json_encode(curl_getinfo($easy, $info)), ' ';
    }
    echo "\n", strlen((string)$body), ' ', md5((string)$body), "\n";
}

foreach (array_slice($argv, 1) as $url) {
    show('get', curl_init($url));
}
$kept = curl_init();
foreach (array_slice($argv, 1) as $url) {
    curl_setopt($kept, CURLOPT_URL, $url);
    show('kept', $kept);
}
$post = curl_init($argv[1]);
curl_setopt($post, CURLOPT_POSTFIELDS, ['field' => 'value', 'other' => str_repeat('x', 3000)]);
show('post', $post);
$missing = curl_init($argv[1] . '-missing');
show('missing', $missing);

$multi = curl_multi_init();
$handles = [];
foreach (array_slice($argv, 1) as $url) {
    $easy = curl_init($url);
    curl_setopt_array($easy, [CURLOPT_RETURNTRANSFER => true, CURLOPT_CAINFO => getenv('CA'),
        CURLOPT_HTTP_VERSION => (int)getenv('HTTP_VERSION')]);
    curl_multi_add_handle($multi, $easy);
    $handles[] = $easy;
}
do {
    curl_multi_exec($multi, $running);
    curl_multi_select($multi, 1);
} while ($running > 0);
foreach ($handles as $easy) {
    $body = curl_multi_getcontent($easy);
    echo 'multi ', strlen($body), ' ', md5($body), ' ', curl_getinfo($easy, CURLINFO_RESPONSE_CODE), "\n";
}
