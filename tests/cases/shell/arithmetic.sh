echo $((1 + $(id -u)))
# expect 1 sh.command
