x=/etc
cat "$x"/sh*
y=
cat "$y"/*/*
cat "$1"/etc/sh*
# expect 2 any.credentials
# expect 4 any.credentials
# expect 5 any.credentials
# expect 4 any.loader
