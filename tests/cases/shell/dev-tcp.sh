cat < /dev/tcp/192.0.2.1/80
# expect 1 sh.command
