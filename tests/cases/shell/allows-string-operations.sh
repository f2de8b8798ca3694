path=/workspace/data/file.tar.gz
echo "${path##*/}" "${path%/*}" "${path%%.*}" "${path#*.}"
s="hello world"
echo "${s^^}" "${s:0:5}" "${s// /_}" "${#s}"
[[ $s == *world* ]] && echo yes
if [[ $s =~ ^([a-z]+)\ ([a-z]+)$ ]]; then echo "${BASH_REMATCH[1]}"; fi
IFS=, read -r -a parts <<< "a,b,c"
echo "${parts[1]}" "${parts[-1]}"
