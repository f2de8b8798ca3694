fd -e tmp -x rm {}
# expect 1 sh.command
