awk '(a > b)' f
awk '{ print ($1 > 2) }' f
awk '{ printf("%s\n", $1 > 2) }' f
awk '{ print $1 " -> " $2 }' f
awk '{ print $1 / 2, ($2 > 1 ? "a" : "b") }' f
awk '/a|b/ { print $1 }' f
awk '{ gsub(/[|>]/, ""); print }' f
awk '$1 > 1 || $2 > 3 { print }' f
awk '{ print x
 if (y > 3) z++ }' f
gawk --field-separator=, '{ print $1 }' f
gawk --posix --assign=x=1 '{ print x }' f
gawk --csv --sandbox '{ print $1 }' f
