<?php
// SFTP by php-curl; prints facts. argv: the URL of a folder, a private key's file, a known_hosts file.
[, $folder, $key, $known] = $argv;
$version = curl_version();
echo 'ours=', (int)(stripos(json_encode($version), 'warmwire') !== false), "\n";
echo 'speaks=', (int)(in_array('sftp', $version['protocols']) && strlen($version['libssh_version']) > 0), "\n";
$login = [CURLOPT_SSH_PRIVATE_KEYFILE => $key, CURLOPT_SSH_KNOWNHOSTS => $known, CURLOPT_RETURNTRANSFER => true];
$text = random_bytes(300000);

$file = fopen('php://memory', 'r+');
fwrite($file, $text);
rewind($file);
$easy = curl_init("$folder/of%20php/new");
curl_setopt_array($easy, $login);
curl_setopt_array($easy, [CURLOPT_UPLOAD => true, CURLOPT_INFILE => $file, CURLOPT_INFILESIZE => strlen($text),
    CURLOPT_FTP_CREATE_MISSING_DIRS => 1]);
curl_exec($easy);
echo 'put=', curl_errno($easy), "\n";

$easy = curl_init("$folder/of%20php/new");
curl_setopt_array($easy, $login);
curl_setopt($easy, CURLOPT_FILETIME, true);
echo 'same=', (int)(curl_exec($easy) === $text), "\n";
echo 'time=', (int)(abs(curl_getinfo($easy, CURLINFO_FILETIME) - time()) < 3600), "\n";
echo 'length=', curl_getinfo($easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD), "\n";
curl_setopt($easy, CURLOPT_RANGE, '-5');
echo 'end=', (int)(curl_exec($easy) === substr($text, -5)), "\n";

$easy = curl_init("$folder/of%20php/");
curl_setopt_array($easy, $login);
curl_setopt($easy, CURLOPT_DIRLISTONLY, true);
$names = explode("\n", trim(curl_exec($easy)));
sort($names);
echo 'names=', implode(',', $names), "\n";

$easy = curl_init("$folder/none");
curl_setopt_array($easy, $login);
echo 'none=', (int)(curl_exec($easy) === false), ' none_code=', curl_errno($easy), "\n";
$easy = curl_init("$folder/none");
curl_setopt_array($easy, [CURLOPT_SSH_KNOWNHOSTS => '/dev/null'] + $login);
curl_exec($easy);
echo 'unknown=', curl_errno($easy), "\n";
