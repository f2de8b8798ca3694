ls | id x
# expect 1 sh.command
