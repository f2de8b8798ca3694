read -r -p "A name, $USER: " -t "$limit" name
while IFS= read -r line; do printf '%s\n' "$line"; done < data.txt
read -r -d '' text < data.txt
read -ra words <<< "$name"
mapfile -t lines < data.txt
printf -v padded '%05d' 7
while getopts "ab:" option; do echo "$option"; done
test -v HOME && [[ -v name ]] && [ -v lines ]
declare -n alias_of=words
unset padded "words[0]"
[ -n "$name" ] || test "$name" = a
wait
