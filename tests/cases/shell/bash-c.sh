bash -lc 'rm x'
# expect 1 sh.command
