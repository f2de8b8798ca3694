report() {
  echo "== $1"
  head -n 3 "$1"
}
report data.csv
report other.csv | wc -l
