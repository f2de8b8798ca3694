mkdir -p out
for name in north south; do
    echo "report for $name" > "out/$name.txt"
    grep "$name" sales.csv >> "out/${name}_rows.csv" || true
done
while read -r id; do echo "$id" > "out/$id.txt"; done < ids.txt
outdir="${1:-results}"
mkdir -p "$outdir"
date > "$outdir/stamp.txt"
