jobs -x id %1
# expect 1 sh.command
