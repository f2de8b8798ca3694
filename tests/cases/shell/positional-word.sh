set -- rm x
"$@"
# expect 1 sh.command
# expect 2 sh.command
