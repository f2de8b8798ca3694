tmp=$(mktemp -d)
cleanup() { rm -rf "$tmp"; }
trap cleanup EXIT
sort data.txt > "$tmp/sorted"
uniq -c "$tmp/sorted" > "$tmp/counts"
comm -12 "$tmp/sorted" "$tmp/counts" || true
wc -l < "$tmp/counts"
