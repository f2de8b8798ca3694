sort -uo /etc/x y
# expect 1 sh.command
# expect 1 sh.open-outside
# expect 1 sh.open-outside
