sort -uo /etc/x y
# expect 1 sh.command
