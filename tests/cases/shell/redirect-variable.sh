ls > "$1"
# expect 1 sh.command
