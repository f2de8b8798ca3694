sed "$(cat script)" f
sed "$1$2" f
awk "$1" f
read -r x < f
sed "s/a/$x/e" f
sed "1e $x" f
# expect 1 sh.command
# expect 2 sh.command
# expect 3 sh.command
# expect 5 sh.script
# expect 6 sh.script
# expect 1 sh.option
