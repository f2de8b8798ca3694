rm -rf /
# expect 1 sh.command
