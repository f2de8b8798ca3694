find "$dir" -type f
find "$dir" "$other" -type d
find "$dir/sub" -name '*.py'
find "${DIR:-data}" -type f
for p in */; do find "$p" -type f | wc -l; tar czf "${p%/}.tgz" "$p"; done
while read -r d; do find "$d" -type f; done < list
read -r a < f
find "$a" -name '*.x' -exec wc -l {} \;
tar -czf backup.tar.gz "$dir"
tar -xzf "$1" -C out
tar czf x.tgz */
