attempt=0
max=3
until [ -f ready.txt ]; do
    attempt=$((attempt + 1))
    if [ "$attempt" -ge "$max" ]; then echo "giving up" >&2; break; fi
    sleep 1
done
(sleep 0; echo a) &
(sleep 0; echo b) &
wait
printf '%s\n' "$attempt"
