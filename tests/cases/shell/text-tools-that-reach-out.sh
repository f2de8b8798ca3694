awk "$PROGRAM" a.csv
# expect 1 sh.command
gawk -F, "{ $X }" a.csv
# expect 3 sh.script
sed -i s/a/b/ /etc/hosts
# expect 5 sh.open-outside
sed --in-place=.old -e s/a/b/ -- /usr/lib/x
# expect 7 sh.open-outside
find /etc /usr -name x -delete
# expect 9 sh.open-outside
cd /etc
# expect 11 sh.open-outside
command id x
# expect 13 sh.command
command -p id x
# expect 15 sh.command
trap 'id x' EXIT
# expect 17 sh.command
exit() { echo no; }
# expect 19 sh.command
hash -p /tmp/x ls
# expect 21 sh.command
mapfile -C 'id x' -c 1 a
# expect 23 sh.command
set -k
# expect 25 sh.command
set -euo keyword
# expect 27 sh.command
shopt -so keyword
# expect 29 sh.command
awk -E prog.awk a
# expect 31 sh.command
awk -W exec prog.awk
# expect 33 sh.command
command time -o /etc/x ls
# expect 35 sh.command
find . -type f $MORE
# expect 37 sh.command
# expect 37 sh.option
