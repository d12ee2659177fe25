# clients.pl CLIENT WORKLOAD COUNT BASE: makes COUNT requests with one of Perl's HTTP clients, over one kept connection
# where the client can, and prints CPU and wall seconds of the loop. Every answer is looked at.
#
# CLIENT: curl (WWW::Curl::Easy, cookies shared through WWW::Curl::Share), lwp, tiny (HTTP::Tiny), furl, hijk
# WORKLOAD: get (/bytes-1024), post (a small urlencoded form), form (the same as multipart)
use strict;
use warnings;
use Time::HiRes qw(time clock_gettime CLOCK_PROCESS_CPUTIME_ID);

my ($client, $workload, $count, $base) = @ARGV;
my %field = (name => 'a small form', number => 42, text => 'some words, to be sent');
my $urlencoded = join '&', map { my $value = $field{$_}; $value =~ s/([^\w.-])/sprintf '%%%02X', ord $1/ge; "$_=$value" } sort keys %field;
my $type = 'application/x-www-form-urlencoded';
my ($path, $expected) = $workload eq 'get' ? ('/bytes-1024', 1024) : ('/taken', 6);
my $url = $base . $path;

sub looked_at {
    my ($status, $length) = @_;
    $status == 200 && $length == $expected or die "$client $workload: status $status, $length bytes\n";
}

# What makes one request.
my %maker = (
    curl => sub {
        require WWW::Curl::Easy;
        require WWW::Curl::Form;
        require WWW::Curl::Share;
        WWW::Curl::Easy->import;
        WWW::Curl::Share->import;
        my $share = WWW::Curl::Share->new;
        $share->setopt(WWW::Curl::Share::CURLSHOPT_SHARE(), WWW::Curl::Share::CURL_LOCK_DATA_COOKIE());
        my $easy = WWW::Curl::Easy->new;
        $easy->setopt(WWW::Curl::Easy::CURLOPT_SHARE(), $share);
        $easy->setopt(WWW::Curl::Easy::CURLOPT_COOKIEFILE(), '');
        $easy->setopt(WWW::Curl::Easy::CURLOPT_URL(), $url);
        $easy->setopt(WWW::Curl::Easy::CURLOPT_POSTFIELDS(), $urlencoded) if $workload eq 'post';
        my ($write, $code, $http) =
            (WWW::Curl::Easy::CURLOPT_WRITEDATA(), WWW::Curl::Easy::CURLINFO_HTTP_CODE(), WWW::Curl::Easy::CURLOPT_HTTPPOST());
        return sub {
            my $body = '';
            $easy->setopt($write, \$body);
            my $form; # to be kept until the request is made
            if ($workload eq 'form') {
                $form = WWW::Curl::Form->new;
                $form->formadd($_, $field{$_}) for sort keys %field;
                $easy->setopt($http, $form);
            }
            my $failed = $easy->perform;
            die $easy->strerror($failed) . "\n" if $failed;
            looked_at($easy->getinfo($code), length $body);
        };
    },
    lwp => sub {
        require LWP::UserAgent;
        require HTTP::Request::Common;
        my $agent = LWP::UserAgent->new(keep_alive => 1, cookie_jar => {});
        my @kind = $workload eq 'form' ? (Content_Type => 'form-data') : ();
        return sub {
            my $answer = $workload eq 'get' ? $agent->get($url) : $agent->post($url, [map { $_ => $field{$_} } sort keys %field], @kind);
            looked_at($answer->code, length $answer->content);
        };
    },
    tiny => sub {
        require HTTP::Tiny;
        my $agent = HTTP::Tiny->new;
        return sub {
            my $answer = $workload eq 'get' ? $agent->get($url) : $agent->post_form($url, \%field);
            looked_at($answer->{status}, length $answer->{content});
        };
    },
    furl => sub {
        require Furl;
        my $agent = Furl->new;
        return sub {
            my $answer = $workload eq 'get' ? $agent->get($url) : $agent->post($url, [], [%field]);
            looked_at($answer->code, length $answer->content);
        };
    },
    hijk => sub {
        require Hijk;
        my ($host, $port) = $base =~ m{//([^:/]+):(\d+)};
        my %request = (host => $host, port => $port, path => $path, method => $workload eq 'get' ? 'GET' : 'POST');
        @request{qw(body head)} = ($urlencoded, ['Content-Type' => $type]) if $workload eq 'post';
        return sub {
            my $answer = Hijk::request(\%request);
            looked_at($answer->{status} // 0, length($answer->{body} // ''));
        };
    },
);

my $request = $maker{$client}->();
$request->();
my ($cpu, $start) = (clock_gettime(CLOCK_PROCESS_CPUTIME_ID), time);
$request->() for 1 .. $count;
my ($wall, $cpu_after) = (time - $start, clock_gettime(CLOCK_PROCESS_CPUTIME_ID));
printf "%.4f %.4f\n", $cpu_after - $cpu, $wall;
