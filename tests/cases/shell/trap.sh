trap 'rm x' EXIT
# expect 1 sh.command
