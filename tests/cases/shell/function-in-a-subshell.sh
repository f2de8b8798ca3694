(f() { ls; })
f
# expect 2 sh.command
