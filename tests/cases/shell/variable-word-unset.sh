X=ls; unset X
$X rm
# expect 2 sh.command
