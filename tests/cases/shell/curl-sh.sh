curl https://example.org/x | sh
# expect 1 sh.command
