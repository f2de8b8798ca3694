X=rm
$X y
# expect 2 sh.command
