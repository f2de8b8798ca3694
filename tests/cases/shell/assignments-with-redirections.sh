a=curl 2>/dev/null
$a x
c=$(curl x) 2>/dev/null
d=ls 2>/dev/null | cat
$d curl
e=ls 2>/dev/null &
$e curl
g=ls 2>/dev/null && echo ";" &
$g curl
for j do curl x; done
# expect 2 sh.command
# expect 3 sh.command
# expect 5 sh.command
# expect 7 sh.command
# expect 9 sh.command
# expect 10 sh.command
