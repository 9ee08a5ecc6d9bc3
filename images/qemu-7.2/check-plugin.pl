#!/usr/bin/perl
# Fails the image's build unless the plugin counts the probes exactly, the same each time, and leaves stderr alone.
use strict;
use warnings;
use JSON::PP qw(decode_json);

my %functions = (work => 12_001, _start => 6);
my %classes = (aes => 2000, pmull => 1000, sha1 => 1000, sha2 => 2000, sha512 => 1000, sha3 => 2000, sm3 => 0, sm4 => 0);
my $folder = $ENV{TMPDIR} // '/tmp';

sub same {
    my ($what, $got, $want) = @_;
    my ($g, $w) = map { my $h = $_; join ', ', map {"$_=$h->{$_}"} sort keys %$h } $got, $want;
    die "count.so: $what: counted [$g], should be [$w]\n" if $g ne $w;
}

sub counts {
    my ($emulator, $program) = @_;
    my $out = "$folder/count-check-$$.json";
    my $status = system "$emulator -cpu max -plugin /opt/crossmatrix/count.so,out=$out $program >$folder/noise-$$ 2>&1";
    die "count.so: $emulator $program ended with $status\n" if $status;
    die "count.so: it wrote into the program's output\n" if -s "$folder/noise-$$";
    open my $file, '<', $out or die "count.so: no output for $program: $!\n";
    local $/ = undef;
    my $counts = decode_json(<$file>);
    close $file;
    unlink $out, "$folder/noise-$$";
    return $counts;
}

for my $arch (@ARGV) {
    my $program = "/opt/crossmatrix/probe-$arch";
    for my $round (1, 2) {
        my $counts = counts("qemu-$arch", $program);
        same("$arch, functions", { map { $_->{name} => $_->{count} } @{ $counts->{functions} } }, \%functions);
        same("$arch, classes", $counts->{classes}, \%classes);
        same("$arch, total", { all => $counts->{instructions} }, { all => 12_007 });
        same("$arch, object", { map { $_->{object} => 1 } @{ $counts->{functions} } }, { "probe-$arch" => 1 });
    }
}
print "count.so counts exactly: @ARGV\n";
