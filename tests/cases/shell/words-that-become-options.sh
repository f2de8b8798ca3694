sort *
read -r x < f; find . $x
find $x
find * -name a
read -r f < list; sed -n 1p "$f"
cat list | xargs sed -n 1p
cat list | xargs -0 find
tar cf a.tar *
sort $x
ls | xargs sort
find . -name $x
zip a.zip *
for f in *; do sort "$f"; done
ls | while read -r g; do sed -n 1p "$g"; done
args="$x -k 1"; sort $args
find . -print | xargs sed p
a=(*); sort "${a[@]}"
sort "${x#./}"
split "$x"
tar czf b.tgz $(cat list)
# expect 1 sh.option
# expect 2 sh.option
# expect 3 sh.option
# expect 4 sh.option
# expect 5 sh.option
# expect 6 sh.option
# expect 7 sh.option
# expect 8 sh.option
# expect 9 sh.option
# expect 10 sh.option
# expect 11 sh.option
# expect 12 sh.option
# expect 13 sh.option
# expect 14 sh.option
# expect 15 sh.option
# expect 16 sh.option
# expect 17 sh.option
# expect 18 sh.option
# expect 19 sh.option
# expect 20 sh.option
