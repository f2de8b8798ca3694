for f in *.csv; do
  echo "$f"
  head -n 1 "$f" | cut -d, -f1
done
i=0
while [ "$i" -lt 3 ]; do echo $i; i=$((i + 1)); done
