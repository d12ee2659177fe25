<?php
// report.php URL COUNT each|one: requests of PHP with a handle for each, which is the mistake, or with one.
[, $url, $count, $way] = $argv;
$easy = null;
$start = hrtime(true);
$good = 0;
for ($i = 0; $i < $count; $i++) {
    if ($way === 'each' || $easy === null) {
        $easy = curl_init();
    }
    curl_setopt_array($easy, [CURLOPT_URL => $url, CURLOPT_RETURNTRANSFER => true, CURLOPT_CAINFO => getenv('CA')]);
    $good += strlen(curl_exec($easy)) > 0;
    if ($way === 'each') {
        curl_close($easy);
    }
}
printf("good=%d micros=%d\n", $good, (hrtime(true) - $start) / 1000);
