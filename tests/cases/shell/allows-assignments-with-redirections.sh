version=$(ls -l "a b") 2>/dev/null || version=none
if lines=$(wc -l f) 2>/dev/null; then echo "$lines"; fi
is_number() {
    n=$(($1 + 0)) 2>/dev/null && test "$n" = "$1"
}
A=1 B="$(ls "x y")" >/dev/null 2>&1
first=$(head -n 1 f) 2> /dev/null && echo "$first" | sort
(inner=1 2>/dev/null)
for file do
    echo "$file"
done
