(X=ls)
$X rm
# expect 2 sh.command
