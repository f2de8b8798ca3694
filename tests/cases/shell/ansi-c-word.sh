$'\x72m' x
# expect 1 sh.command
