sed '1i\header' data.txt > out.txt
sed -i '$a\last line' out.txt
sed -e '/^#/d' -e 's/[[:space:]]*$//' out.txt
sed -n '2,5p;5q' out.txt
sed 's|/old/|/new/|g' out.txt
