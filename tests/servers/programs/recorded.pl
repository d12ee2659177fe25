# Prints all that it gets: the test compares the output of a recorded run with that of a replayed one.
# Arguments: URLs. CA is the file with the certificate authority.
use strict;
use warnings;
use Digest::MD5 'md5_hex';
use WWW::Curl::Easy;

my $kept = WWW::Curl::Easy->new;
for my $url (@ARGV) {
    for my $easy (WWW::Curl::Easy->new, $kept) {
        my ($body, $lines) = ('', '');
        $easy->setopt(CURLOPT_URL, $url);
        $easy->setopt(CURLOPT_CAINFO, $ENV{CA});
        $easy->setopt(CURLOPT_FOLLOWLOCATION, 1);
        $easy->setopt(CURLOPT_WRITEDATA, \$body);
        $easy->setopt(CURLOPT_WRITEHEADER, \$lines);
        my $code = $easy->perform;
        print "$url $code\n$lines", length $body, ' ', md5_hex($body), "\n";
        print join(' ', map { $easy->getinfo($_) } CURLINFO_HTTP_CODE, CURLINFO_NUM_CONNECTS, CURLINFO_SIZE_DOWNLOAD), "\n";
    }
}
