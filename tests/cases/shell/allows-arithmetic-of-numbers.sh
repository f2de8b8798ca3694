n=$(wc -l < data.txt)
start=$(date +%s)
sum=0
for i in {1..10}; do ((sum += i)); done
for i in $(seq 1 "$n"); do sum=$((sum + i)); done
let sum+=5
avg=$((sum / (n > 0 ? n : 1)))
end=$(date +%s)
size=$(stat -c %s data.txt)
total=$(awk -F, '{ s += $2 } END { print s }' data.csv)
[[ $total -gt 100 && $avg -lt 10 ]] && echo "$((end - start)) $size"
x=7; y=$((x % 3)); ((y == 1)) && echo odd
hex=$((0xff)); echo $((hex << 2)) $((RANDOM % 6 + 1)) $((SECONDS / 60))
