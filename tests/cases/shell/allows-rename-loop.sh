i=1
for f in *.jpeg; do
    new=$(printf 'photo_%03d.jpg' "$i")
    mv -- "$f" "$new"
    ((i++))
done
for f in data/*.TXT; do
    mv "$f" "${f%.TXT}.txt"
done
