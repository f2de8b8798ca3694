echo a >&10
echo a 10>out.txt
read -r x <&16
read -r -u 16 x
read -ru16 x
read -u "$x" y
mapfile -t -u 11 lines
echo a >&$x
echo a >&010
read -r x </dev/fd/16
echo a >/dev/fd/10
read -r x </proc/self/fd/16
# expect 1 sh.command
# expect 2 sh.command
# expect 3 sh.command
# expect 4 sh.command
# expect 5 sh.command
# expect 6 sh.command
# expect 7 sh.command
# expect 8 sh.command
# expect 9 sh.command
# expect 10 sh.command
# expect 11 sh.command
# expect 12 sh.command
# expect 12 any.credentials
