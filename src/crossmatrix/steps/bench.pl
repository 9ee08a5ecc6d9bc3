#!/usr/bin/perl
# Measures what a workload program lists, and writes bench.json.
#
#   bench.pl --workload PROGRAM --output FILE [--emulator COMMAND --plugin FILE] [--jobs N] [--size BYTES]...
#            [--variables "NAME=VALUE\n..."] [--time-limit SECONDS] [ALGORITHM...]
#
# With an emulator: executed instructions, by the counting plugin. Each algorithm is run with two numbers of calls, so that
# their difference has no start-up in it, and twice with the smaller one, so that a count that does not repeat is found.
# An operation that is random by nature is run without a call once, then $REPEATS times with other stretches of the fixed
# random numbers. Without an emulator: wall-clock times.
# Exit codes: 0 written, with what could not be had under "missing"; 1 nothing to measure or no output; 2 usage.
use strict;
use warnings;

use File::Temp qw(tempdir);
use Getopt::Long qw(GetOptionsFromArray);
use JSON::PP;
use POSIX qw(WNOHANG _exit);
use Time::HiRes qw(sleep time);

my @SIZES = (16, 64, 256, 1024, 8192, 16384);
my $TOP = 40;             # functions kept by name; the rest is summed as "other"
my $REPEATS = 11;         # of random operations; the analysis drops the first as warm-up
my $TIMES = 6;            # of a wall-clock measurement; the first is warm-up and dropped here
my $LONG_ENOUGH_S = 0.05; # of one wall-clock measurement

# Up to a kilobyte a piece may end within a block, and what it costs then depends on where in the block it starts: so the
# difference of the two numbers is a multiple of 4 (16-byte pieces of ChaCha20's 64-byte blocks). Neither is 0 or 1,
# because the first call does what is put off until then.
sub counts_for {
    my ($task) = @_;
    return $task->{kind} eq 'bulk' && $task->{size} <= 1024 ? (4, 12) : (2, 4);
}

sub usage {
    my ($message) = @_;
    print STDERR "bench.pl: $message\n";
    exit 2;
}

sub read_options {
    my (@arguments) = @_;
    my %options = (emulator => '', plugin => '', jobs => 1, size => [], variables => '', 'time-limit' => 600);
    local $SIG{__WARN__} = sub { print STDERR "bench.pl: @_" };
    GetOptionsFromArray(\@arguments, \%options, 'workload=s', 'output=s', 'emulator=s', 'plugin=s', 'jobs=i',
        'size=i@', 'variables=s', 'time-limit=f') or exit 2;
    for my $name (qw(workload output)) {
        usage("--$name is missing") unless defined $options{$name};
    }
    usage('an emulator needs --plugin to count with') if $options{emulator} ne '' && $options{plugin} eq '';
    usage('--jobs is at least 1') if $options{jobs} < 1;
    for my $size (@{$options{size}}) {
        usage("--size $size is no number of bytes above 0") if $size < 1;
    }
    $options{size} = [@SIZES] unless @{$options{size}};
    $options{algorithms} = \@arguments;
    $options{command} = command_prefix($options{emulator});
    $options{environment} = environment_of($options{variables});
    return \%options;
}

# The emulator's words with its program's path in full: the measured environment has no PATH.
sub command_prefix {
    my ($text) = @_;
    my ($program, @rest) = split ' ', $text;
    return [] unless defined $program;
    return [$program, @rest] if $program =~ m{/};
    for my $folder (split /:/, $ENV{PATH} // '') {
        return ["$folder/$program", @rest] if -x "$folder/$program";
    }
    usage("no program $program in PATH");
}

# NAME=VALUE a line; an empty value is set, which is not the same as unset.
sub environment_of {
    my ($text) = @_;
    my %environment;
    for my $line (split /\n/, $text) {
        my ($name, $value) = $line =~ /^([A-Za-z_][A-Za-z_0-9]*)=(.*)$/ or usage("no NAME=VALUE: $line");
        $environment{$name} = $value;
    }
    return \%environment;
}

sub slurp {
    my ($path) = @_;
    open my $file, '<', $path or return '';
    local $/;
    my $text = <$file>;
    close $file;
    return $text // '';
}

# In the child: nothing but the given environment, no input, outputs in files. The environment's size shifts counts, and
# so does its order, for whoever looks a variable up passes those before it; a hash has another order in each process.
sub become {
    my ($options, $out, $err, @command) = @_;
    open STDIN, '<', '/dev/null' or _exit(126);
    open STDOUT, '>', $out or _exit(126);
    open STDERR, '>', $err or _exit(126);
    %ENV = ();
    $ENV{$_} = $options->{environment}{$_} for sort keys %{$options->{environment}};
    no warnings 'exec';
    exec { $command[0] } @command or do {
        print STDERR "cannot be started: $!\n";
        _exit(127);
    };
}

# Waits for a child within the time limit. Returns why it failed, '' where it did not.
sub failure_of {
    my ($pid, $limit_s) = @_;
    my $late = 0;
    my $killer = sub { $late = 1; kill 'KILL', $pid };
    local $SIG{ALRM} = $killer;
    Time::HiRes::alarm($limit_s);
    1 while waitpid($pid, 0) == -1 && $!{EINTR};
    my $status = $?;
    Time::HiRes::alarm(0);
    return "took longer than $limit_s s" if $late;
    return 'signal ' . ($status & 127) if $status & 127;
    return $status >> 8 ? 'exit code ' . ($status >> 8) : '';
}

# Runs a program to its end. Returns why it failed ('' where it did not) and what it printed.
sub run_program {
    my ($options, $folder, @command) = @_;
    my ($out, $err) = ("$folder/stdout", "$folder/stderr");
    my $pid = fork;
    die "bench.pl: no new process: $!\n" unless defined $pid;
    become($options, $out, $err, @command) if $pid == 0;
    my $failure = failure_of($pid, $options->{'time-limit'});
    my ($first) = grep { /\S/ } split /\n/, slurp($err);
    $failure .= ": $first" if $failure ne '' && defined $first;
    return ($failure, slurp($out));
}

sub workload {
    my ($options, @arguments) = @_;
    return (@{$options->{command}}, $options->{workload}, @arguments);
}

# Numbers have leading zeros, so that the arguments of all runs of a task have one length: they stand on the stack.
sub bench_arguments {
    my ($task, $count, $repeat) = @_;
    my @arguments = ('bench', $task->{algorithm}, sprintf('%08d', $task->{size}), sprintf('%08d', $count));
    push @arguments, sprintf('%02d', $repeat) if defined $repeat;
    return @arguments;
}

# Executed instructions by function name: two objects may have functions of one name.
sub by_name {
    my ($functions) = @_;
    my %sum;
    $sum{$_->{name}} += $_->{count} for @$functions;
    return \%sum;
}

# One counted run: [COUNT, {instructions, functions}]. Dies with the reason where there is none.
sub counted {
    my ($options, $task, $folder, $count, $repeat) = @_;
    my $file = "$folder/count.json";
    unlink $file;
    my ($program, @rest) = workload($options, bench_arguments($task, $count, $repeat));
    my ($failure) = run_program($options, $folder, $program, '-plugin', "$options->{plugin},out=$file", @rest);
    die "$failure\n" if $failure ne '';
    my $seen = eval { decode_json(slurp($file)) };
    die "the counting plugin wrote nothing that can be read\n" unless ref $seen eq 'HASH' && $seen->{instructions};
    return [$count, {instructions => $seen->{instructions}, functions => $seen->{functions} // []}];
}

# All runs name the same functions, the rest in one sum: those that grow most from the first run to the last. By what
# they cost in one run, start-up would fill the list, and the work that is measured would be missing.
sub same_functions {
    my (@counts) = @_;
    my @sums = map { by_name($_->[1]{functions}) } @counts;
    my %growth = map { $_ => $sums[-1]{$_} - ($sums[0]{$_} // 0) } keys %{$sums[-1]};
    my @names = sort { $growth{$b} <=> $growth{$a} || $a cmp $b } keys %growth;
    my %kept = map { $_ => 1 } splice @names, 0, $TOP;
    for my $place (0 .. $#counts) {
        my %sum = map { $_ => 0 } keys %kept;
        for my $name (keys %{$sums[$place]}) {
            $sum{$kept{$name} ? $name : 'other'} += $sums[$place]{$name};
        }
        $counts[$place][1]{functions} = \%sum;
    }
    return \@counts;
}

sub count_task {
    my ($options, $task, $folder) = @_;
    my @counts;
    if ($task->{random}) {
        @counts = (counted($options, $task, $folder, 0, 0));
        push @counts, counted($options, $task, $folder, 1, $_) for 0 .. $REPEATS - 1;
    } else {
        my ($few, $many) = counts_for($task);
        @counts = map { counted($options, $task, $folder, $_) } $few, $few, $many;
    }
    my %run = %$task;
    $run{counts} = same_functions(@counts);
    return {runs => [\%run]};
}

sub timed {
    my ($options, $task, $folder, $count, $repeat) = @_;
    my $start = time;
    my ($failure) = run_program($options, $folder, workload($options, bench_arguments($task, $count, $repeat)));
    my $elapsed = time - $start;
    die "$failure\n" if $failure ne '';
    return $elapsed;
}

# Doubles the number of calls until they take long enough beside the start-up.
sub calls_to_time {
    my ($options, $task, $folder, $start_up) = @_;
    my $count = 1;
    while ($count < 1 << 24) {
        my $elapsed = timed($options, $task, $folder, $count) - $start_up;
        last if $elapsed >= $LONG_ENOUGH_S;
        my $factor = $elapsed > 0.001 ? $LONG_ENOUGH_S * 1.3 / $elapsed : 16;
        $count = int($count * ($factor > 16 ? 16 : $factor < 2 ? 2 : $factor) + 0.5);
    }
    return $count;
}

# Rates of a task: bytes or operations a second, start-up taken off. A random operation is done once a measurement.
sub time_task {
    my ($options, $task, $folder) = @_;
    my ($start_up) = sort { $a <=> $b } map { timed($options, $task, $folder, 0) } 1 .. 3;
    my $count = $task->{random} ? 1 : calls_to_time($options, $task, $folder, $start_up);
    my @rates;
    for my $turn (0 .. $TIMES - 1) {
        my $elapsed = timed($options, $task, $folder, $count, $task->{random} ? $turn : undef) - $start_up;
        next if $turn == 0 || $elapsed <= 0;
        push @rates, $count * ($task->{size} || 1) / $elapsed;
    }
    die "too short to time\n" unless @rates;
    my $bulk = $task->{kind} eq 'bulk';
    return {times => [{
        algorithm => $task->{algorithm}, unit => $bulk ? 'bytes/s' : 'ops/s',
        size => $bulk ? $task->{size} : undef, values => [map { $_ + 0.0 } @rates]}]};
}

sub where {
    my ($task) = @_;
    return $task->{size} ? "$task->{algorithm}, $task->{size} bytes" : $task->{algorithm};
}

# In a child of its own: measures one task and leaves the result in its folder.
sub do_task {
    my ($options, $task, $folder) = @_;
    my $measure = $options->{emulator} ne '' ? \&count_task : \&time_task;
    my $result = eval { $measure->($options, $task, $folder) };
    if (!$result) {
        my $reason = $@ || 'no reason given';
        chomp $reason;
        $result = {missing => [where($task) . ": $reason"]};
    }
    write_json("$folder/result.json", $result);
}

sub write_json {
    my ($path, $value) = @_;
    open my $file, '>', "$path.part" or die "bench.pl: $path.part cannot be written: $!\n";
    print {$file} JSON::PP->new->canonical->encode($value), "\n" or die "bench.pl: $path: $!\n";
    close $file or die "bench.pl: $path: $!\n";
    rename "$path.part", $path or die "bench.pl: $path: $!\n";
}

# What is to be done, in the workload's own order: [{algorithm, kind, random, size}].
sub tasks {
    my ($options, $listed) = @_;
    my %wanted = map { $_ => 1 } @{$options->{algorithms}};
    my $all = !%wanted;
    my @tasks;
    for my $entry (@$listed) {
        next unless delete $wanted{$entry->{algorithm}} || $all;
        my %task = (algorithm => $entry->{algorithm}, kind => $entry->{kind},
            random => $entry->{random} ? JSON::PP::true : JSON::PP::false);
        my @sizes = $entry->{kind} eq 'bulk' ? sort { $a <=> $b } @{$options->{size}} : (0);
        push @tasks, map { {%task, size => $_} } @sizes;
    }
    return (\@tasks, [map { "$_: the workload does not list it" } sort keys %wanted]);
}

# Runs all tasks, as many at a time as there are jobs. Returns their folders in order.
sub run_tasks {
    my ($options, $tasks, $base) = @_;
    my (%running, @folders);
    for my $index (0 .. $#$tasks) {
        my $folder = sprintf '%s/%05d', $base, $index;
        mkdir $folder or die "bench.pl: $folder: $!\n";
        push @folders, $folder;
        delete $running{wait()} while keys %running >= $options->{jobs};
        my $pid = fork;
        die "bench.pl: no new process: $!\n" unless defined $pid;
        if ($pid == 0) {
            my $good = eval { do_task($options, $tasks->[$index], $folder); 1 };
            print STDERR $@ unless $good;
            _exit($good ? 0 : 1);
        }
        $running{$pid} = 1;
    }
    delete $running{wait()} while %running;
    return @folders;
}

sub collect {
    my ($options, $tasks, $missing, @folders) = @_;
    my %bench = (emulated => $options->{emulator} ne '' ? JSON::PP::true : JSON::PP::false,
        asked => [sort @{$options->{algorithms}}], runs => [], times => [], missing => $missing);
    for my $index (0 .. $#folders) {
        my $result = eval { decode_json(slurp("$folders[$index]/result.json")) }
            // {missing => [where($tasks->[$index]) . ': the measuring process died']};
        push @{$bench{$_}}, @{$result->{$_} // []} for qw(runs times missing);
    }
    return \%bench;
}

sub main {
    my $options = read_options(@ARGV);
    my $base = tempdir('bench-XXXXXX', TMPDIR => 1, CLEANUP => 1);
    my ($failure, $text) = run_program($options, $base, workload($options, 'list'));
    my $listed = $failure eq '' ? eval { decode_json($text) } : undef;
    if (ref $listed ne 'ARRAY' || !@$listed) {
        my $why = $failure ne '' ? $failure : 'its output is no list of algorithms in JSON';
        print STDERR "bench.pl: `workload list` gives nothing to measure: $why\n";
        return 1;
    }
    my ($tasks, $missing) = tasks($options, $listed);
    my $bench = collect($options, $tasks, $missing, run_tasks($options, $tasks, $base));
    write_json($options->{output}, $bench);
    printf "measured %d, missing %d\n", scalar @{$bench->{runs}} + @{$bench->{times}}, scalar @{$bench->{missing}};
    print "  $_\n" for @{$bench->{missing}};
    return 0;
}

exit main();
