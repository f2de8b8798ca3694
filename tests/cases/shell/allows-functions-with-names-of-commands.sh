sum() { echo $(($1 + $2)); }
join() {
    local IFS=$1
    shift
    echo "$*"
}
split() { IFS=, read -r -a parts <<< "$1"; }
sum 40 2
join , a b c
split a,b,c
n=$(sum 1 2)
echo $((n * 2))
