# report.pl URL COUNT each|one: posts a form with WWW::Curl, with a handle for each post, which is the mistake, or with one.
use strict;
use warnings;
use WWW::Curl::Easy;
use WWW::Curl::Form;
use Time::HiRes qw(time);

my ($url, $count, $way) = @ARGV;
my ($easy, $good) = (undef, 0);
my $start = time;
for (1 .. $count) {
    $easy = WWW::Curl::Easy->new if $way eq 'each' || !$easy;
    my $form = WWW::Curl::Form->new;
    $form->formadd('name', 'value');
    $form->formadd('text', 'x' x 500);
    my $body = '';
    $easy->setopt(CURLOPT_URL, $url);
    $easy->setopt(CURLOPT_CAINFO, $ENV{CA});
    $easy->setopt(CURLOPT_HTTPPOST, $form);
    $easy->setopt(CURLOPT_WRITEDATA, \$body);
    $good++ if $easy->perform == 0 && $body =~ /name="text"/;
}
printf "good=%d micros=%d\n", $good, (time - $start) * 1e6;
