trap 'id x' EXIT
# expect 1 sh.command
