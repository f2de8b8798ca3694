read -r a < a.txt
if [[ $a =~ ^-?[0-9]+$ ]]; then
    echo $((a * 2))
fi
read -r b < b.txt
case $b in
    ''|*[!0-9]*) echo "no number" >&2; exit 1 ;;
esac
echo $((b + 1))
read -r c < c.txt
if ! [[ "$c" =~ ^[0-9]+$ ]]; then
    echo "no number" >&2
    exit 1
fi
((c > 3)) && echo large
check() {
    local v=$1
    [[ $v =~ ^[0-9]+$ ]] || return 1
    echo $((v + 1))
}
check "$(cat d.txt)"
while read -r e; do [[ $e == *[!0-9]* ]] && continue; s=$((s + e)); done < e.txt
read -r g < g.txt
[ "$g" -eq 1 ] && printf '%d\n' "$g"
