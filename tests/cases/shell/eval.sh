eval 'rm x'
# expect 1 sh.command
