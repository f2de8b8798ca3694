ls &> /etc/x
# expect 1 sh.command
