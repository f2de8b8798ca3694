usage() { echo "usage: $0 [-v] [-n COUNT] FILE" >&2; exit 2; }
verbose=0
count=10
while getopts "vn:h" opt; do
    case $opt in
        v) verbose=1 ;;
        n) count=$OPTARG ;;
        h|*) usage ;;
    esac
done
shift $((OPTIND - 1))
file=${1:-data.txt}
[ "$verbose" -eq 1 ] && echo "reading $file"
head -n "$count" "$file"
