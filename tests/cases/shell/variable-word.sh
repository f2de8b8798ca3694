X=id
$X y
# expect 2 sh.command
