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
