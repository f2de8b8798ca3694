node -e 'x'
# expect 1 sh.command
