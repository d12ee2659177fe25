<?php
// pecl_http: its client, its loop on libevent, progress, debug and persistent handles; prints facts.
$http = getenv('HTTP');
function request($method, $url, $body = null, $options = [])
{
    $request = new http\Client\Request($method, $url, [], $body);
    if ($options) {
        $request->setOptions($options);
    }
    return $request;
}
function send($request)
{
    $client = new http\Client();
    $client->enqueue($request)->send();
    return $client->getResponse($request);
}
function report($name, ...$values)
{
    echo $name, '=', implode(',', array_map(fn ($value) => is_bool($value) ? (int) $value : $value, $values)), "\n";
}
function size($response)
{
    return strlen((string) $response->getBody());
}
function fails($request)
{
    try {
        return send($request)->getResponseCode();
    } catch (Throwable $error) {
        return get_class($error);
    }
}
$get = send(request('GET', "$http/hello"));
report('get', $get->getResponseCode(), size($get), $get->getTransferInfo()->num_connects);
$big = send(request('GET', "$http/big"));
report('big', $big->getResponseCode(), size($big));
$moved = send(request('GET', "$http/moved/hello", null, ['redirect' => 3]));
report('moved', $moved->getResponseCode(), size($moved), $moved->getTransferInfo()->redirect_count);
$body = new http\Message\Body();
$body->append('some body');
report('put', send(request('PUT', "$http/kept", $body))->getResponseCode());
report('back', size(send(request('GET', "$http/kept"))));
$body = new http\Message\Body();
$body->addForm(['a' => '1'], [['name' => 'f', 'type' => 'text/plain', 'file' => '/etc/hostname']]);
$form = (string) send(request('POST', "$http/body", $body))->getBody();
report('form', str_contains($form, 'name="a"'), str_contains($form, 'filename="hostname"'));
$part = send(request('GET', "$http/big", null, ['resume' => 335000]));
report('resumed', $part->getResponseCode(), size($part));
report('refused', fails(request('GET', getenv('REFUSED'))));
report('untrusted', fails(request('GET', getenv('HTTPS') . '/hello')));
foreach (['multi' => false, 'libevent' => true] as $name => $loop) {
    $client = new http\Client();
    $client->configure(['use_eventloop' => $loop, 'max_host_connections' => 3]);
    $count = $total = 0;
    for ($i = 0; $i < 20; $i++) {
        $client->enqueue(request('GET', "$http/bytes/10000?$name$i"), function ($response) use (&$count, &$total) {
            $count++;
            $total += size($response);
            return true;
        });
    }
    $client->send();
    report($name, $count, $total, count($client) == 0);
}
$client = new http\Client();
foreach ([getenv('REFUSED'), "$http/hello", "$http/none"] as $url) {
    $client->enqueue(request('GET', $url));
}
while (@$client->once()) {
    @$client->wait(0.1);
}
$codes = [];
while ($response = $client->getResponse()) {
    $codes[] = $response->getResponseCode();
}
sort($codes);
report('stepped', ...$codes);
class Watch implements SplObserver
{
    public $calls = 0;
    public $size = 0;
    public function update(SplSubject $client, $request = null, $progress = null): void
    {
        $this->calls++;
        $this->size = $progress ? $progress->dlnow : $this->size;
    }
}
$client = new http\Client();
$client->attach($watch = new Watch());
$client->enqueue(request('GET', "$http/big"))->send();
report('progress', $watch->calls > 1, $watch->size);
$client = new http\Client();
$sent = '';
$client->setDebug(function ($client, $request, $kind, $data) use (&$sent) {
    $sent .= $kind == (http\Client::DEBUG_HEADER | http\Client::DEBUG_OUT) ? $data : '';
});
$client->enqueue(request('GET', "$http/hello"))->send();
report('debug', str_starts_with($sent, "GET /hello HTTP/1.1\r\n"));
for ($i = 0; $i < 2; $i++) {
    $client = new http\Client('curl', 'kept.1');
    $client->enqueue($request = request('GET', "$http/hello"))->send();
    $made = $client->getResponse($request)->getTransferInfo()->num_connects;
    unset($client);
}
report('persistent', $made);
$client = new http\Client();
$client->enqueue(request('GET', "$http/big"), function () {
    throw new Exception('thrown');
});
try {
    $client->send();
} catch (Throwable $error) {
    report('thrown', ($error->getPrevious() ?? $error)->getMessage());
}
$get = send(request('GET', "$http/hello"));
report('after', $get->getResponseCode(), size($get), $get->getTransferInfo()->num_connects);
report('end', 1);
