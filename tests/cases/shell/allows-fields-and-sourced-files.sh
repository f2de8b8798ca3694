#!/bin/bash
set -euo pipefail
IFS=$'\n\t'
source ./lib.sh
exec 2>&1
rows=($(cut -d, -f1 data.csv))
for row in "${rows[@]}"; do
    printf '%s\n' "$row"
done
old=$IFS; IFS=,; set -- a,b; echo "$1"; IFS=$old
ls | sort | uniq | head -n 10
grep -c x data.csv || true
