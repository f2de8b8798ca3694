declare -A seen
while read -r line; do
    for w in $line; do
        (( seen[$w]++ ))
    done
done < words.txt
for w in "${!seen[@]}"; do printf '%s %d\n' "$w" "${seen[$w]}"; done | sort -k2 -rn
