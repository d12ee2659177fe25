#!/usr/bin/perl
# RTSP::Server on free ports of loopback: FILE, which then tells the port of those who play and that of those who publish.
use strict;
use warnings;
use AnyEvent;
use IO::Socket::INET;
use RTSP::Server;

my ($port_file) = @ARGV;
my @ports = map { IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1)->sockport } 1 .. 2;
my $media = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Proto => 'udp')->sockport;
my $server = RTSP::Server->new(
	client_listen_port => $ports[0], source_listen_port => $ports[1],
	client_listen_address => '127.0.0.1', source_listen_address => '127.0.0.1',
	rtp_start_port => $media, log_level => 0,
);
$server->listen;
open my $file, '>', "$port_file.new" or die $!;
print $file "ports @ports\n";
close $file;
rename "$port_file.new", $port_file or die $!;
AnyEvent->condvar->recv;
