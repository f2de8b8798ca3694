# Ordinary loops over constants.
for i in 1 2 3; do awk "NR==$i" data.csv; sed -n "${i}p" data.csv; done
for name in numpy scipy; do pip install --quiet "$name"; done
for dir in src lib; do
  mkdir -p "$dir"
  cd "$dir"
  rm -f ./*.tmp
  cd ..
done
for command in cat head; do "$command" data.csv; done
for word in one two; do sed "s/@NAME@/$word/g" template.txt > "$word.txt"; rm -rf "old/$word"; done
rm -f x
