<?php
// Uploads, forms and callbacks of php-curl; prints facts. argv[1]: the server's base URL.
$base = $argv[1];

function handle(string $url, array $options = []) {
    $easy = curl_init($url);
    curl_setopt_array($easy, [CURLOPT_RETURNTRANSFER => true] + $options);
    return $easy;
}

// PUT from a stream, with and without its size.
$path = tempnam(sys_get_temp_dir(), 'warmwire');
file_put_contents($path, str_repeat('0123456789', 30000));
$file = fopen($path, 'rb');
$put = handle("$base/sum", [CURLOPT_PUT => true, CURLOPT_INFILE => $file, CURLOPT_INFILESIZE => 300000]);
echo 'put=', explode(' ', curl_exec($put))[0], "\n";
rewind($file);
$chunked = handle("$base/sum", [CURLOPT_UPLOAD => true, CURLOPT_INFILE => $file]);
echo 'chunked=', explode(' ', curl_exec($chunked))[0], "\n";
fclose($file);

// A read callback gives three pieces and ends.
$pieces = ['one ', 'two ', 'three'];
$read = handle("$base/body", [
    CURLOPT_UPLOAD => true,
    CURLOPT_READFUNCTION => function ($easy, $stream, $most) use (&$pieces) { return array_shift($pieces) ?? ''; },
]);
echo 'read=', strtr(curl_exec($read), ' ', '_'), "\n";

// A multipart form with fields, a file from disk and one from memory.
$form = handle("$base/body", [CURLOPT_POSTFIELDS => [
    'field' => 'value one',
    'disk' => new CURLFile($path, 'text/plain', 'disk.txt'),
    'memory' => new CURLStringFile('from memory', 'memory.txt', 'text/plain'),
]]);
$sent = curl_exec($form);
echo 'form=', (int)str_contains($sent, "name=\"field\"\r\n\r\nvalue one\r\n"), ',', (int)str_contains($sent, 'filename="disk.txt"'),
    ',', (int)str_contains($sent, str_repeat('0123456789', 30000)), ',', (int)str_contains($sent, "\r\n\r\nfrom memory\r\n"), "\n";
unlink($path);

// Methods, own headers, cookies.
$custom = handle("$base/echo", [CURLOPT_CUSTOMREQUEST => 'PATCH', CURLOPT_POSTFIELDS => '{"a":1}',
    CURLOPT_HTTPHEADER => ['Content-Type: application/json', 'X-Own: 1'], CURLOPT_COOKIE => 'k=v']);
$text = curl_exec($custom);
echo 'custom=', strtok($text, ' '), ',', (int)str_contains($text, "X-Own: 1\r\n"), ',', (int)str_contains($text, "Cookie: k=v\r\n"),
    ',', (int)str_ends_with($text, '{"a":1}'), "\n";
$jar = handle("$base/cookies/set/name/value", [CURLOPT_COOKIEFILE => '']);
curl_exec($jar);
curl_setopt($jar, CURLOPT_URL, "$base/cookies");
echo 'cookies=', curl_exec($jar), ',', count(curl_getinfo($jar, CURLINFO_COOKIELIST)), "\n";

// Header, write and progress callbacks on one transfer; a copy of the handle keeps them.
$lines = $bytes = $reports = 0;
$watched = curl_init("$base/bytes/100000");
curl_setopt_array($watched, [
    CURLOPT_HEADERFUNCTION => function ($easy, $line) use (&$lines) { $lines++; return strlen($line); },
    CURLOPT_WRITEFUNCTION => function ($easy, $data) use (&$bytes) { $bytes += strlen($data); return strlen($data); },
    CURLOPT_NOPROGRESS => false,
    CURLOPT_XFERINFOFUNCTION => function ($easy, $want, $have) use (&$reports) { $reports++; return 0; },
]);
curl_exec($watched);
curl_exec(curl_copy_handle($watched));
echo "callbacks=$lines,$bytes,", (int)($reports > 1), "\n";
curl_setopt($watched, CURLOPT_XFERINFOFUNCTION, fn() => 1);
curl_exec($watched);
echo 'stopped=', curl_errno($watched), ',', strtr(curl_error($watched), ' ', '_'), "\n";

// An exception out of a callback: the transfer ends, the handle lives on.
$thrower = curl_init("$base/bytes/5000");
curl_setopt($thrower, CURLOPT_WRITEFUNCTION, function () { throw new Exception('thrown'); });
try {
    curl_exec($thrower);
} catch (Exception $exception) {
    echo 'exception=', $exception->getMessage(), ',', curl_errno($thrower), "\n";
}
curl_reset($thrower);
curl_setopt_array($thrower, [CURLOPT_URL => "$base/bytes/77", CURLOPT_RETURNTRANSFER => true]);
echo 'alive=', strlen(curl_exec($thrower)), "\n";

// Paused in the write callback, resumed from outside, over a multi handle.
$pauses = $got = 0;
$paused = curl_init("$base/bytes/200000");
curl_setopt($paused, CURLOPT_WRITEFUNCTION, function ($easy, $data) use (&$pauses, &$got) {
    if ($got > 0 && $pauses === 0) {
        $pauses++;
        return CURL_WRITEFUNC_PAUSE;
    }
    $got += strlen($data);
    return strlen($data);
});
$multi = curl_multi_init();
curl_multi_setopt($multi, CURLMOPT_MAX_HOST_CONNECTIONS, 2);
curl_multi_add_handle($multi, $paused);
$others = array_map(fn($i) => handle("$base/delay/10/bytes/1000"), range(1, 9));
foreach ($others as $other) curl_multi_add_handle($multi, $other);
$start = microtime(true);
do {
    curl_multi_exec($multi, $running);
    if ($pauses === 1 && microtime(true) - $start > 0.1) {
        $pauses++;
        curl_pause($paused, CURLPAUSE_CONT);
    }
    if ($running) curl_multi_select($multi, 0.05);
} while ($running);
echo "paused=$pauses,$got,", array_sum(array_map(fn($other) => strlen(curl_multi_getcontent($other)), $others)), "\n";
foreach ([$paused, ...$others] as $easy) curl_multi_remove_handle($multi, $easy);

// Every info at once, and what only PHP offers.
curl_exec($info = handle("$base/redirect/2", [CURLOPT_FOLLOWLOCATION => true]));
$all = curl_getinfo($info);
echo 'info=', $all['http_code'], ',', $all['redirect_count'], ',', (int)($all['total_time'] > 0), ',', $all['primary_ip'], "\n";
echo 'escape=', curl_escape($info, 'a b/ü'), ',', curl_unescape($info, 'a%20b') === 'a b' ? 1 : 0, ',', strtr(curl_strerror(7), ' ', '_'), "\n";
echo "end=1\n";
