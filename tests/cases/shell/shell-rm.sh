rm -rf /
# expect 1 sh.command
# expect 1 sh.open-outside
