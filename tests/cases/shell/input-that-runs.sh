bash
sh -s a b
eval "$(cat)"
read -r x; $x
read -r x; eval "$x"
python3 -
node -
awk -f -
sed -f /dev/stdin data.txt
xargs -I{} sh -c {}
source /dev/fd/0
mapfile -t words; "${words[@]}"
env bash
timeout 5 bash
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
# expect 13 sh.command
# expect 14 sh.command
