X=
$X rm y
# expect 2 sh.command
