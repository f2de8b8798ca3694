ls && id || true
# expect 1 sh.command
