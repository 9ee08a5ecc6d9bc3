# Prints the test programs that some tests start: those that their recipes name. In the tree of OpenSSL; standard input
# has all programs of the Makefile, the arguments are words of the harness. Prints nothing where a word is no name of
# tests, such as a group or `alltests`: that wants all programs.
use strict;
use warnings;
my @programs = split ' ', <STDIN>;
my $text = '';
for my $word (@ARGV) {
    my @recipes = $word =~ /^test_/ ? glob("test/recipes/[0-9][0-9]-$word.t") : ();
    exit 0 unless @recipes;
    for my $recipe (@recipes) {
        open my $file, '<', $recipe or die "$recipe: $!\n";
        local $/ = undef;
        $text .= <$file>;
    }
}
my %named = map { $_ => 1 } $text =~ /(\w+)/g;
print join(' ', grep { m{^test/(\w+)$} && $named{$1} } @programs), "\n";
