set -- rm x
"$@"
# expect 2 sh.command
