{ xargs rm -rf; } <<< "/etc/x"
( while read -r f; do cat "$f"; done ) <<< "/etc/shadow"
{ sh; } <<< "id"
for i in 1; do xargs rm -rf; done <<< "/"
{ awk -f /dev/stdin; } <<< 'BEGIN { system("id") }'
{ source /dev/stdin; } <<< 'id'
# expect 1 sh.open-outside
# expect 2 any.credentials
# expect 3 sh.command
# expect 4 sh.open-outside
# expect 5 sh.command
# expect 6 sh.command
