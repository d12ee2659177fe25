<?php
// clients.php CLIENT COUNT URL: fetches URL COUNT times and prints CPU and wall seconds. The CA file is named by the
// environment's CA. Every answer is looked at.
//
// CLIENT: naive (a handle for each request), kept (one easy handle), multi (a handle for each request, one multi
// handle), parallel (the same, all added at once, eight connections), stream (file_get_contents)
[, $client, $count, $url] = $argv;
$ca = getenv('CA');

function handle(): CurlHandle {
    global $url, $ca;
    $easy = curl_init($url);
    curl_setopt_array($easy, [CURLOPT_RETURNTRANSFER => true, CURLOPT_CAINFO => $ca]);
    return $easy;
}

function looked_at(string|bool|null $body): void {
    if ($body === false || $body === null || strlen($body) !== 1024) {
        fwrite(STDERR, "not the whole answer\n");
        exit(1);
    }
}

function run_all(CurlMultiHandle $multi): void {
    do {
        curl_multi_exec($multi, $running);
        if ($running) curl_multi_select($multi);
    } while ($running);
}

$clients = [
    'naive' => function () use ($count) {
        for ($i = 0; $i < $count; $i++) {
            $easy = handle();
            looked_at(curl_exec($easy));
            curl_close($easy);
        }
    },
    'kept' => function () use ($count) {
        $easy = handle();
        for ($i = 0; $i < $count; $i++) looked_at(curl_exec($easy));
    },
    'multi' => function () use ($count) {
        $multi = curl_multi_init();
        for ($i = 0; $i < $count; $i++) {
            curl_multi_add_handle($multi, $easy = handle());
            run_all($multi);
            looked_at(curl_multi_getcontent($easy));
            curl_multi_remove_handle($multi, $easy);
        }
    },
    'parallel' => function () use ($count) {
        $multi = curl_multi_init();
        curl_multi_setopt($multi, CURLMOPT_MAX_HOST_CONNECTIONS, 8);
        $handles = [];
        for ($i = 0; $i < $count; $i++) curl_multi_add_handle($multi, $handles[] = handle());
        run_all($multi);
        foreach ($handles as $easy) {
            looked_at(curl_multi_getcontent($easy));
            curl_multi_remove_handle($multi, $easy);
        }
    },
    'stream' => function () use ($count, $url, $ca) {
        $context = stream_context_create(['ssl' => ['cafile' => $ca]]);
        for ($i = 0; $i < $count; $i++) looked_at(file_get_contents($url, false, $context));
    },
];

$cpu = function () {
    $used = getrusage();
    return $used['ru_utime.tv_sec'] + $used['ru_stime.tv_sec'] + ($used['ru_utime.tv_usec'] + $used['ru_stime.tv_usec']) / 1e6;
};
[$before, $start] = [$cpu(), microtime(true)];
$clients[$client]();
$wall = microtime(true) - $start;
printf("%.4f %.4f\n", $cpu() - $before, $wall);
