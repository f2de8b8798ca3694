fruits=(apple banana cherry)
fruits+=(date)
for i in "${!fruits[@]}"; do
    echo "$i: ${fruits[$i]} ${#fruits[i]}"
done
echo "${fruits[@]:1:2}" "${#fruits[@]}"
declare -A count
for f in "${fruits[@]}"; do
    count[$f]=$(( ${count[$f]:-0} + 1 ))
done
for k in "${!count[@]}"; do echo "$k=${count[$k]}"; done
last=$(( ${#fruits[@]} - 1 ))
echo "${fruits[last]}"
