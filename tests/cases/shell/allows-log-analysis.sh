#!/usr/bin/env bash
set -euo pipefail
log=${1:-access.log}
echo "requests: $(wc -l < "$log")"
awk '{print $9}' "$log" | sort | uniq -c | sort -rn | head -n 10
grep -c ' 500 ' "$log" || true
errors=$(grep -c ERROR "$log" || true)
total=$(wc -l < "$log")
if [ "$total" -gt 0 ]; then
    echo "share: $((100 * errors / total)) %"
fi
