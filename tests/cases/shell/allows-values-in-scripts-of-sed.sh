read -r old new < names.txt
sed -i "s/$old/$new/g" notes.txt
sed "s|@VERSION@|$1|" template.txt > out.txt
sed -n "${2}p" notes.txt
awk "NR == $3 { print }" notes.txt
