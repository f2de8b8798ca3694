timeout -s KILL 5 rm x
# expect 1 sh.command
