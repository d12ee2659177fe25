<?php
// A fatal error inside a write callback: PHP leaves the callback with longjmp, over libcurl's frames. The shutdown
// function then fetches with a fresh handle in the same process. argv[2]: easy or multi, who calls libcurl.
ini_set('memory_limit', '16M');
ini_set('display_errors', '1');
$base = $argv[1];
$mode = $argv[2] ?? 'easy';

register_shutdown_function(function () use ($base) {
    ini_set('memory_limit', '64M');
    $fresh = curl_init("$base/bytes/1000");
    curl_setopt($fresh, CURLOPT_RETURNTRANSFER, true);
    echo "\nafter=", strlen(curl_exec($fresh)), "\n";
});

$easy = curl_init("$base/bytes/100000");
curl_setopt($easy, CURLOPT_WRITEFUNCTION, function ($handle, $data) {
    $waste = str_repeat('x', 100 << 20);
    return strlen($data) + strlen($waste);
});
if ($mode === 'multi') {
    $multi = curl_multi_init();
    curl_multi_add_handle($multi, $easy);
    do {
        curl_multi_exec($multi, $running);
        curl_multi_select($multi, 0.1);
    } while ($running);
} else {
    curl_exec($easy);
}
echo "unreachable\n";
