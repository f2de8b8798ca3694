uniq x /etc/y
# expect 1 sh.command
