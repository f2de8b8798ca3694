#!/bin/bash
while IFS=, read -r name qty price; do
    [[ $qty =~ ^[0-9]+$ ]] || continue
    [[ $price =~ ^[0-9]+$ ]] || continue
    total=$((qty * price))
    printf '%-10s %6d\n' "$name" "$total"
done < orders.csv > out/totals.txt
cut -d, -f1,3 orders.csv | sort -t, -k2,2n | tail -n 3
paste -d, a.txt b.txt | column -t -s,
