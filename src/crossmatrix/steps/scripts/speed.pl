#!/usr/bin/perl
# Runs a library's own speed program several times and prints each of its lines once, with the spread of every number.
#
#   speed.pl TIMES COMMAND...
#
# A number with a decimal point is a measurement: its median stands in the line, and behind it by how much of that the
# largest is above the smallest. What does not come in every run (progress) stands below alone, where the runs are whole.
# Exit code: that of the first run that failed.
use strict;
use warnings;

my $NUMBER = qr/(?<![\w.])\d+\.\d+(?![\d.])/;
my $UNIT = qr/[ks]?\b/; # as openssl writes it

# "1024.50k" of 1000.00, 1024.50 and 1050.00 becomes "1024.50k (4.9 %)".
sub with_spread {
    my ($unit, @values) = @_;
    my @sorted = sort { $a <=> $b } @values;
    my $middle = $sorted[$#sorted / 2];
    my $spread = $middle > 0 ? 100 * ($sorted[-1] - $sorted[0]) / $middle : 0;
    return sprintf '%s%s (%.1f %%)', $middle, $unit, $spread;
}

my ($times, @command) = @ARGV;
die "usage: speed.pl TIMES COMMAND...\n" unless @command && $times =~ /^[1-9]\d*$/;
my (@order, %seen, @runs);
for my $run (1 .. $times) {
    open my $pipe, '-|', @command or die "speed.pl: $command[0]: $!\n";
    my @lines = <$pipe>;
    close $pipe or exit($? >> 8 || 1);
    push @runs, join '', @lines;
    my %met;
    for my $line (@lines) {
        my @numbers = $line =~ /$NUMBER/g;
        # Columns move with the length of a number; two lines of one shape in a run are told apart by their turn.
        (my $shape = $line) =~ s/\s*$NUMBER/ #/g;
        my $key = $shape . ++$met{$shape};
        push @order, $key if $run == 1;
        push @{$seen{$key}}, [$line, @numbers];
    }
}
print "time, by @command: median of $times runs, and from the least to the most in percent of it\n";
for my $key (grep { @{$seen{$_}} == $times } @order) {
    my @found = @{$seen{$key}};
    my $line = $found[0][0];
    my $place = 0;
    $line =~ s/$NUMBER($UNIT)/$place++; with_spread($1, map { $_->[$place] } @found)/ge;
    print $line;
}
for my $run (0 .. $#runs) {
    printf "\nrun %d\n%s", $run + 1, $runs[$run];
}
