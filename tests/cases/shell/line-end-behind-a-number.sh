ls | sort | uniq | head -n 10
id || true
# expect 2 sh.command
