use strict;
use warnings;
use WWW::Curl::Easy;

# Fetches the URL of the command line twice, each time with a fresh handle.
for my $turn (1, 2) {
    my $curl = WWW::Curl::Easy->new;
    my $body = '';
    open my $sink, '>', \$body or die $!;
    $curl->setopt(CURLOPT_URL, $ARGV[0]);
    $curl->setopt(CURLOPT_WRITEDATA, $sink);
    my $code = $curl->perform;
    die $curl->strerror($code), "\n" if $code;
    # 0 new connections: the request used one from the pool.
    my $new = $curl->getinfo(CURLINFO_NUM_CONNECTS);
    print length($body), " bytes, new connections: $new\n";
}
