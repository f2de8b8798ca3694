read -r x < data.txt
read "$x"
read -a "$x"
printf -v "$x" a
mapfile -t "$x" < data.txt
getopts ab "$x"
test -v "$x"
[ -v "$x" ]
[[ ! -v $x ]]
mapfile -C id -c 1 lines < data.txt
# expect 2 sh.command
# expect 3 sh.command
# expect 4 sh.command
# expect 5 sh.command
# expect 6 sh.command
# expect 7 sh.command
# expect 8 sh.command
# expect 9 sh.command
# expect 10 sh.command
