cd data && awk -F, -v max="$MAX" 'NR > 1 && $2 < max { s += $2 } END { print s }' a.csv
sed -n '/^#/!p; s/a/b/g' a.txt | sort | tee sorted.txt
sed -i 's/old/new/' a.txt
sed -n 1p /etc/os-release
find /usr/share -name '*.md' | xargs grep -n license
find . -name '*.tmp' -delete
find . -type f -exec wc -l {} +
awk '/MemTotal/ { print $2 }' /proc/meminfo
find . -name "$NAME" -exec grep -n "$TEXT" {} +
