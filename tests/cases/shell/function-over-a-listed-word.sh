exit() { true; }
read() { true; }
find() { nohup "$@"; }
find x
sort() { find . "$1" "$2" \;; }
sort -exec
wc() { cat f; }
x=$(wc -l < f)
echo $((x))
if [ -f x ]; then
    cat() { echo 1; }
fi
y=$(cat f)
echo $((y))
# expect 1 sh.command
# expect 2 sh.command
# expect 3 sh.command
# expect 4 sh.command
# expect 5 sh.command
# expect 5 sh.option
# expect 9 sh.evaluated
# expect 14 sh.evaluated
