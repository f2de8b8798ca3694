diff <(sort a.txt) <(sort b.txt) || true
mapfile -t lines < <(grep -v '^#' config.txt)
echo "${#lines[@]} lines"
for ((i = 0; i < ${#lines[@]}; i++)); do
    echo "$((i + 1)): ${lines[i]}"
done
while IFS='=' read -r key value; do
    [[ -z $key || $key == \#* ]] && continue
    echo "key=$key value=$value"
done < <(cat config.txt)
