$'\x69d' x
# expect 1 sh.command
