sort -- *
sort ./* | uniq
for f in *.csv; do sort "$f" | head -n 2; sed -n 1p "$f"; done
find . -name '*.log' -print0 | xargs -0 sed -n 1p
find . -type f -name '*.txt' -exec sed -n 1p {} \;
read -r pattern < pattern.txt
find . -name "$pattern"
grep -rn -- "$pattern" src
sed -i 's/foo/bar/g' *.txt
