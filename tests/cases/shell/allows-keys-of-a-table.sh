declare -A price=([apple]=3 [pear]=4)
for k in "${!price[@]}"; do echo "$k ${price[$k]}"; done
# expect 1 sh.evaluated
# expect 1 sh.evaluated
