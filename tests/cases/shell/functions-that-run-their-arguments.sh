run() { "$@"; }
one() { shift; "$@"; }
two() { one "$@"; }
three() { one x "$@"; }
adds() { "$@" /; }
sets() { set -- curl x; "$@"; }
feeds() { xargs "$@"; }
with() { env "$@"; }
texts() { sh -c "$@"; }
run curl x
one ls curl x
two ls curl x
three curl x
run run env curl x
with -S 'curl x'
run eval 'curl x'
run set -- curl x
run "$1"
run $words
one * ls
inner() { run "$@"; }
if true; then inner curl x; fi
# expect 5 sh.command
# expect 6 sh.command
# expect 7 sh.command
# expect 8 sh.command
# expect 8 sh.option
# expect 9 sh.command
# expect 10 sh.command
# expect 11 sh.command
# expect 12 sh.command
# expect 13 sh.command
# expect 14 sh.command
# expect 15 sh.command
# expect 16 sh.command
# expect 17 sh.command
# expect 18 sh.command
# expect 19 sh.command
# expect 20 sh.command
# expect 22 sh.command
