ls -la > listing.txt 2>&1
echo done >> /tmp/log
cat listing.txt > /dev/null
sort < listing.txt | uniq -c > counts.txt
grep -c x listing.txt >&2
