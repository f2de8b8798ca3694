/bin/r? x
# expect 1 sh.command
