n=0
while read -r k v; do n=$((n + v)); done < data.txt
echo "$n"
# expect 2 sh.evaluated
