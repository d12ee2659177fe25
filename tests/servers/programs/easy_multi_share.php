<?php
// Easy, multi and share interfaces of php-curl; prints facts. argv[1]: the server's base URL.
$base = $argv[1];
echo 'ours=', (int)(stripos(json_encode(curl_version()), 'warmwire') !== false), "\n";

$easy = curl_init("$base/bytes/5000");
curl_setopt_array($easy, [CURLOPT_RETURNTRANSFER => true]);
$body = curl_exec($easy);
echo 'easy=', strlen($body), ',', curl_getinfo($easy, CURLINFO_RESPONSE_CODE), ',', curl_errno($easy), "\n";

curl_setopt_array($easy, [CURLOPT_URL => getenv('SECURE'), CURLOPT_CAINFO => getenv('CA')]);
$body = curl_exec($easy);
echo 'secure=', strlen($body), ',', curl_errno($easy), "\n";

curl_setopt_array($easy, [CURLOPT_URL => "$base/body", CURLOPT_POSTFIELDS => http_build_query(['a' => 1, 'b' => 'two'])]);
echo 'post=', curl_exec($easy), "\n";
curl_reset($easy);

$multi = curl_multi_init();
$handles = [];
for ($i = 0; $i < 20; $i++) {
    $handles[$i] = curl_init("$base/bytes/1000");
    curl_setopt($handles[$i], CURLOPT_RETURNTRANSFER, true);
    curl_multi_add_handle($multi, $handles[$i]);
}
do {
    $status = curl_multi_exec($multi, $running);
    if ($running) curl_multi_select($multi);
} while ($running && $status == CURLM_OK);
$ended = 0;
while ($info = curl_multi_info_read($multi)) $ended += $info['result'] === CURLE_OK;
$length = 0;
foreach ($handles as $handle) {
    $length += strlen(curl_multi_getcontent($handle));
    curl_multi_remove_handle($multi, $handle);
    curl_close($handle);
}
curl_multi_close($multi);
echo "multi=$ended,$length\n";

$share = curl_share_init();
curl_share_setopt($share, CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE);
curl_share_setopt($share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS);
$good = 0;
for ($i = 0; $i < 10; $i++) {
    $handle = curl_init("$base/bytes/10");
    curl_setopt_array($handle, [CURLOPT_RETURNTRANSFER => true, CURLOPT_SHARE => $share]);
    $good += strlen(curl_exec($handle)) === 10;
    curl_close($handle);
}
echo "share=$good\n";

$seen = '';
curl_setopt_array($easy, [
    CURLOPT_URL => "$base/bytes/10", CURLOPT_RETURNTRANSFER => true,
    CURLOPT_HEADERFUNCTION => function ($handle, $line) use (&$seen) {
        if ($seen === '') $seen = (string)curl_getinfo($handle, CURLINFO_RESPONSE_CODE);
        return strlen($line);
    },
]);
curl_exec($easy);
echo "headers=$seen\n";

$refused = curl_init('http://127.0.0.1:1/');
curl_setopt($refused, CURLOPT_RETURNTRANSFER, true);
curl_exec($refused);
echo 'refused=', curl_errno($refused), "\n";

$aborted = curl_init("$base/bytes/100000");
curl_setopt($aborted, CURLOPT_WRITEFUNCTION, fn($handle, $data) => 0);
curl_exec($aborted);
echo 'aborted=', curl_errno($aborted), "\n";
