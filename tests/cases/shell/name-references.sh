declare -n y=PATH
y=/tmp
read -r x < data.txt
declare -rn z="$x"
# expect 1 sh.command
# expect 4 sh.command
