main() {
    greet "$1"
    summary
}
greet() { echo "Hello, $1"; }
summary() { echo "done"; }
main world
