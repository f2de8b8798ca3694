echo "`id`"
# expect 1 sh.command
