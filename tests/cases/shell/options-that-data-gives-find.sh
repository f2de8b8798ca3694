read -r a b c < f
find "$a" "$b" "$c"
find "$a" "$b" \;
find "$a" "$b" -exec grep x {} \;
mapfile -t m < f
find "${m[@]}" -type f
tar czf x.tgz "$a"
# expect 2 sh.option
# expect 3 sh.option
# expect 4 sh.option
# expect 6 sh.option
# expect 7 sh.option
