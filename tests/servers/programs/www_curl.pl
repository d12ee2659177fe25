# Perl's WWW::Curl: Easy, Form, Multi and Share; prints facts. First argument: the server's base URL.
use strict;
use warnings;
use WWW::Curl::Easy;
use WWW::Curl::Form;
use WWW::Curl::Multi;
use WWW::Curl::Share;

my $base = $ARGV[0];

# A handle that writes to the given scalar.
sub easy {
    my ($path, $into, %options) = @_;
    my $easy = WWW::Curl::Easy->new;
    $easy->setopt(CURLOPT_URL, $path =~ /^http/ ? $path : "$base$path");
    $easy->setopt(CURLOPT_WRITEDATA, $into);
    $easy->setopt($_, $options{$_}) for keys %options;
    return $easy;
}

printf "ours=%d\n", WWW::Curl::Easy::version() =~ /warmwire/i ? 1 : 0;

# One kept handle: GETs, a urlencoded POST, and GETs again over the same connection.
my $body = '';
my $easy = easy('/bytes/5000', \$body);
my $code = $easy->perform;
printf "easy=%d,%d,%d\n", length $body, $easy->getinfo(CURLINFO_HTTP_CODE), $code;
my $connects = 0;
for (1 .. 20) {
    $body = '';
    $easy->setopt(CURLOPT_WRITEDATA, \$body);
    $easy->perform;
    $connects += $easy->getinfo(CURLINFO_NUM_CONNECTS);
}
printf "kept=%d,%d\n", length $body, $connects;
$body = '';
$easy->setopt(CURLOPT_URL, "$base/body");
$easy->setopt(CURLOPT_POST, 1);
$easy->setopt(CURLOPT_POSTFIELDS, 'a=1&b=two');
$easy->setopt(CURLOPT_HTTPHEADER, ['X-First: 1']);
$easy->pushopt(CURLOPT_HTTPHEADER, ['X-Second: 2']);
$easy->setopt(CURLOPT_WRITEDATA, \$body);
$code = $easy->perform;
print "post=$body,$code\n";

# A copy keeps what was set.
my $copied = '';
my $copy = $easy->duphandle;
$copy->setopt(CURLOPT_WRITEDATA, \$copied);
print 'copy=', $copy->perform, ",$copied\n";

# A multipart form with a field and a file.
my $form = WWW::Curl::Form->new;
$form->formadd('field', 'value one');
$form->formaddfile($0, 'script', 'text/plain');
my $echoed = '';
my $poster = easy('/body', \$echoed, CURLOPT_HTTPPOST, $form);
$code = $poster->perform;
open my $own, '<', $0 or die;
my $text = do { local $/; <$own> };
printf "form=%d,%d,%d,%d\n", $code, $echoed =~ /name="field"\r\n\r\nvalue one\r\n/ ? 1 : 0,
    index($echoed, $text) > 0 ? 1 : 0, $echoed =~ /filename="www_curl.pl"/ ? 1 : 0;

# HTTPS.
my $secret = '';
my $secure = easy($ENV{SECURE}, \$secret, CURLOPT_CAINFO, $ENV{CA});
$code = $secure->perform;
printf "secure=%d,%d\n", length $secret, $code;

# Callbacks: head, body, progress, read.
my ($lines, $pieces, $reports, $read) = (0, 0, 0, 0);
my $caller = WWW::Curl::Easy->new;
$caller->setopt(CURLOPT_URL, "$base/bytes/100000");
$caller->setopt(CURLOPT_HEADERFUNCTION, sub { $lines++; return length $_[0] });
$caller->setopt(CURLOPT_WRITEFUNCTION, sub { $pieces += length $_[0]; return length $_[0] });
$caller->setopt(CURLOPT_NOPROGRESS, 0);
$caller->setopt(CURLOPT_PROGRESSFUNCTION, sub { $reports++; return 0 });
$code = $caller->perform;
printf "callbacks=%d,%d,%d,%d\n", $code, $lines, $pieces, $reports > 0 ? 1 : 0;
my @parts = ('one ', 'two ', 'three');
my $sent = '';
my $upload = easy('/body', \$sent, CURLOPT_UPLOAD, 1, CURLOPT_INFILESIZE, 13);
$upload->setopt(CURLOPT_READFUNCTION, sub { $read++; return @parts ? shift @parts : '' });
print 'upload=', $upload->perform, ",$sent\n";
my $aborting = WWW::Curl::Easy->new;
$aborting->setopt(CURLOPT_URL, "$base/bytes/100000");
$aborting->setopt(CURLOPT_WRITEFUNCTION, sub { return 0 });
print 'aborted=', $aborting->perform, "\n";

# Failures tell code and text.
my $nothing = '';
my $refused = easy('http://127.0.0.1:1/', \$nothing);
$code = $refused->perform;
printf "refused=%d message=%s\n", $code, $refused->errbuf =~ s/after \d+ ms/after N ms/r;
print 'name=', $refused->strerror(28) =~ tr/ /_/r, "\n";

# Multi: twenty at once, waited for by fdset and select; then a second batch, of which one is removed half way.
my $multi = WWW::Curl::Multi->new;

sub run_all {
    my ($running, $results) = @_;
    while (%$running) {
        my $active = $multi->perform;
        while (my ($id, $result) = $multi->info_read) {
            $results->{$id} = $result;
            delete $running->{$id};
        }
        last unless %$running && $active;
        my ($in, $out, $wait) = $multi->fdset;
        my ($reads, $writes) = ('', '');
        vec($reads, $_, 1) = 1 for @$in;
        vec($writes, $_, 1) = 1 for @$out;
        select $reads, $writes, undef, 0.05;
    }
}

my (%running, %results, @bodies);
for my $id (1 .. 20) {
    $bodies[$id] = '';
    $running{$id} = easy('/bytes/1000', \$bodies[$id], CURLOPT_PRIVATE, $id);
    $multi->add_handle($running{$id});
}
run_all(\%running, \%results);
printf "multi=%d,%d,%d\n", scalar keys %results, length join('', @bodies[1 .. 20]), scalar grep { $_ } values %results;
%results = ();
my ($slow, $quick) = ('', '');
my $endless = easy('/drip/10/50/bytes/100000', \$slow, CURLOPT_PRIVATE, 'slow');
$running{quick} = easy('/delay/100/bytes/777', \$quick, CURLOPT_PRIVATE, 'quick');
$multi->add_handle($endless);
$multi->add_handle($running{quick});
run_all(\%running, \%results);
$multi->remove_handle($endless);
printf "removed=%d,%d,%s\n", length $quick, length $slow > 0 && length $slow < 100000, join ',', %results;

# Share: cookies set on one handle are sent by another.
my $share = WWW::Curl::Share->new;
$share->setopt(CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE);
$share->setopt(CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS);
my ($set, $received) = ('', '');
my $setter = easy('/cookies/set/name/value', \$set, CURLOPT_COOKIEFILE, '');
my $sender = easy('/cookies', \$received, CURLOPT_COOKIEFILE, '');
$_->setopt(CURLOPT_SHARE, $share) for $setter, $sender;
$setter->perform;
$sender->perform;
print "share=$received\n";
my $jar = $sender->getinfo(CURLINFO_COOKIELIST);
print 'cookielist=', ref $jar eq 'ARRAY' ? scalar @$jar : 'none', "\n";
print "end=1\n";
