retry() {
    local times=$1 i
    shift
    for ((i = 0; i < times; i++)); do
        "$@" && return 0
        sleep 1
    done
    return 1
}
run() {
    echo "+ $*"
    "$@"
}
quiet() { "$@" >/dev/null 2>&1; }
limited() { LC_ALL=C timeout 5 "$@"; }
three() { retry 3 "$@"; }
say() { run echo "$@"; }
log() { printf '%s\n' "$@"; }
build() { echo "built $1"; }
main() {
    run mkdir -p out
    three cp a.txt out/
    run build all
}
retry 3 grep x a.txt
if quiet grep -q x a.txt; then log found it; fi
limited sort a.txt
say hello there
for f in a b; do run gzip "$f"; done
main "$@"
