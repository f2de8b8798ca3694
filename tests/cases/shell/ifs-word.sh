rm${IFS}x
# expect 1 sh.command
