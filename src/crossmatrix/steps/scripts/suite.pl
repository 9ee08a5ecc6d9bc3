# Runs a test suite's cases so that the log is whole lines and whole blocks, whatever runs side by side.
#
#   perl suite.pl case NAME COMMAND...   run one case; its output, exit code and duration go to the log as one block
#   perl suite.pl lines                  copy standard input to the log, line by line
#   perl suite.pl plan NUMBER            say how many cases will be run, where no harness of upstream's says it
#
# The log is the file named by CROSSMATRIX_SUITE_LOG. A block is
#
#   === RUN NAME                         as soon as the case starts, so that a log that was cut names what hung
#   === BEGIN NAME
#   ... all that the case printed, both streams ...
#   === END NAME exit=CODE seconds=1.234
#
# CODE is 128+n where signal n ended the case. The case's output is printed again on standard output and its exit
# code is ours, so that a TAP harness can stand before us. A plan is one line, === PLAN NUMBER, before all blocks.
use strict;
use warnings;
use Fcntl qw(:flock);
use Time::HiRes qw(time);

my $log = $ENV{CROSSMATRIX_SUITE_LOG} or die "suite.pl: CROSSMATRIX_SUITE_LOG is not set\n";

sub append {
    my ($text) = @_;
    open my $handle, '>>:raw', $log or die "suite.pl: cannot open $log: $!\n";
    flock $handle, LOCK_EX or die "suite.pl: cannot lock $log: $!\n";
    print {$handle} $text;
    close $handle or die "suite.pl: cannot write $log: $!\n";
    return;
}

sub run_case {
    my ($name, @command) = @_;
    my $file = "$log.$$";
    append("=== RUN $name\n");
    my $begin = time;
    my $child = fork // die "suite.pl: cannot fork: $!\n";
    if (!$child) {
        open STDOUT, '>:raw', $file or die "suite.pl: cannot open $file: $!\n";
        open STDERR, '>&', \*STDOUT or die "suite.pl: cannot join the streams: $!\n";
        exec { $command[0] } @command or die "suite.pl: cannot run $command[0]: $!\n";
    }
    waitpid $child, 0;
    my $code = $? & 127 ? 128 + ($? & 127) : $? >> 8;
    my $seconds = time - $begin;
    open my $handle, '<:raw', $file or die "suite.pl: cannot open $file: $!\n";
    my $output = do { local $/; <$handle> } // '';
    close $handle;
    unlink $file;
    my $end = $output eq '' || $output =~ /\n\z/ ? '' : "\n";
    append(sprintf "=== BEGIN %s\n%s%s=== END %s exit=%d seconds=%.3f\n", $name, $output, $end, $name, $code, $seconds);
    print $output;
    return $code;
}

my $mode = shift @ARGV // '';
if ($mode eq 'case') {
    binmode STDOUT;
    exit run_case(@ARGV);
}
elsif ($mode eq 'lines') {
    while (my $line = <STDIN>) { append($line) }
}
elsif ($mode eq 'plan' && @ARGV == 1 && $ARGV[0] =~ /\A[0-9]+\z/) {
    append("=== PLAN $ARGV[0]\n");
}
else {
    die "usage: suite.pl case NAME COMMAND... | suite.pl lines | suite.pl plan NUMBER\n";
}
