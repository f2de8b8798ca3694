r''m x
# expect 1 sh.command
