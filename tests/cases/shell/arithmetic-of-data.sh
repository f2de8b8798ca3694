read x < f; echo $((x))
read y < f; ((y > 1)) && echo
z=$(cat f); [[ $z -eq 1 ]]
z2=$(<f); let q=z2+1
declare -i w; w=$(cat f)
u=$(head -1 f); echo ${s:u:1}
v=$(cat f); echo "${arr[v]}" "${arr[$v]}"; arr[$v]=1
mapfile -t m < f; for k in "${m[@]}"; do ((sum+=k)); done
echo $[x] ${!x}
for ((i=0;i<x;i++)); do :; done
g() { echo $(($1)); }; g "$x"
echo $((unassigned))
a=x; echo $((a))
declare -a zz="($x)"
echo $(( $(cat f) + 1 ))
b=([$x]=1)
RANDOM=$x
while read -r c d; do sum=$((sum + d)); done < data.csv
[[ $x =~ ^[0-9]+$ ]] || true; echo $((x))
[[ $x =~ [0-9]+ ]] || exit; echo $((x))
n=$(wc -l f); echo $((n))
t=$(awk '{print $2}' f); echo $((t + 1))
e=$(echo "$x" | tr -d ' '); echo $((e))
printf -v h '%s' "$x"; echo $((h))
: "${o:=$x}"; echo $((o))
local_sum() { local l=$1; ((l++)); }; local_sum "$(cat f)"
for p in $(cat f); do ((r = p * 2)); done
set -- "$(cat f)"; echo $(($1))
declare -A keyed; unset keyed; keyed[$x]=1
# expect 1 sh.evaluated
# expect 2 sh.evaluated
# expect 3 sh.evaluated
# expect 4 sh.evaluated
# expect 5 sh.evaluated
# expect 6 sh.evaluated
# expect 7 sh.evaluated
# expect 8 sh.evaluated
# expect 9 sh.evaluated
# expect 10 sh.evaluated
# expect 11 sh.evaluated
# expect 12 sh.evaluated
# expect 13 sh.evaluated
# expect 14 sh.command
# expect 15 sh.evaluated
# expect 16 sh.evaluated
# expect 17 sh.evaluated
# expect 18 sh.evaluated
# expect 19 sh.evaluated
# expect 20 sh.evaluated
# expect 21 sh.evaluated
# expect 22 sh.evaluated
# expect 23 sh.evaluated
# expect 24 sh.evaluated
# expect 25 sh.evaluated
# expect 26 sh.evaluated
# expect 27 sh.evaluated
# expect 28 sh.evaluated
# expect 29 sh.evaluated
