read -r first
echo "first: $first"
while IFS=, read -r name value; do
    printf '%s has %s\n' "$name" "$value"
done
cat | wc -l
cat /dev/stdin | sort -u
