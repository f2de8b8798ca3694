factorial() {
    local n=$1
    if [ "$n" -le 1 ]; then
        echo 1
        return
    fi
    echo $((n * $(factorial $((n - 1)))))
}
fib() {
    if (( $1 < 2 )); then echo "$1"; else echo $(( $(fib $(($1 - 1))) + $(fib $(($1 - 2))) )); fi
}
factorial 5
fib 10
