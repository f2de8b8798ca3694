echo a >&2
echo a 2>/dev/null 1>&2
ls 2>&1 | head -n 1
while read -r -u 3 line; do echo "$line"; done 3< data.txt
echo a 9> out.txt
echo a 2>&-
