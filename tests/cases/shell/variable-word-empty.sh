X=
$X id y
# expect 2 sh.command
