# Who chooses a path also chooses its last part.
backup() {
  local src=$1
  tar -czf "out/$(basename "$src").tgz" -C "$(dirname "$src")" "$(basename "$src")"
}
backup data
sort "$(dirname "$1")/list.txt"
base=$(basename "$1" .csv)
sort "$base"
cp -t out a
