#!/bin/bash
set -euo pipefail
trap 'echo "done"' EXIT
declare -A seen
total() {
    local sum=0 line
    while read -r line; do
        [ -n "$line" ] || continue
        test "${seen[$line]:-}" = yes && break
        seen[$line]=yes
        let sum+=1
    done
    return 0
}
shopt -s nullglob
for f in data/*.csv; do
    [[ -f $f ]] || { shift; exit 1; }
    total < "$f"
done
mapfile -t rows < data.txt
command -v jq || exit 3
time sort data.txt | uniq -c
unset seen
wait
exit 0
