ls | sort | uniq | head -n 10
grep x f || true
# c

id || true
ls | sort | uniq | head -n 10 # first
id
# expect 5 sh.command
# expect 7 sh.command
