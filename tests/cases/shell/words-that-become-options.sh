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
