<?php
// Mail by php-curl; prints facts. argv: an IMAP, a POP3 and an SMTP URL, and the CA's file.
[, $imap, $pop3, $smtp, $ca] = $argv;
echo 'ours=', (int)(stripos(json_encode(curl_version()), 'warmwire') !== false), "\n";
$mail = "Subject: dots\r\n\r\n.one\r\n..two\r\n.\r\nend \xe4\r\n";
$login = [CURLOPT_USERPWD => 'user:secret', CURLOPT_USE_SSL => CURLUSESSL_ALL, CURLOPT_CAINFO => $ca, CURLOPT_RETURNTRANSFER => true];

foreach (['imap' => $imap, 'pop3' => $pop3] as $name => $url) {
    $easy = curl_init($url);
    curl_setopt_array($easy, $login);
    $body = curl_exec($easy);
    echo "$name=", curl_errno($easy), ' ', "{$name}_same=", (int)($body === $mail), "\n";
}

$from = [CURLOPT_MAIL_FROM => '<me@example.com>', CURLOPT_MAIL_RCPT => ['<a@example.com>', 'b@example.com']];
$file = fopen('php://memory', 'r+');
fwrite($file, $mail);
rewind($file);
$easy = curl_init($smtp);
curl_setopt_array($easy, $login + $from);
curl_setopt_array($easy, [CURLOPT_UPLOAD => true, CURLOPT_INFILE => $file, CURLOPT_INFILESIZE => strlen($mail)]);
curl_exec($easy);
echo 'smtp=', curl_errno($easy), "\n";

$easy = curl_init($smtp);
curl_setopt_array($easy, $login + $from);
curl_setopt_array($easy, [CURLOPT_HTTPHEADER => ['Subject: a form'], CURLOPT_POSTFIELDS => ['text' => 'Hello']]);
curl_exec($easy);
echo 'form=', curl_errno($easy), "\nend=1\n";
