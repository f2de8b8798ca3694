x=a$/b; id
y=${x%%]*}; id
z=${x//$y\/$(id)/}
echo '<<
\'; id; : ''
{ read -r a; id; } <<< "$x"
echo $((1 << 2))
\id
cat <<E
\$a (b) $(id)
E
a | b | c d$
id > p <<E
x
E
# expect 1 sh.command
# expect 2 sh.command
# expect 3 sh.command
# expect 5 sh.command
# expect 6 sh.command
# expect 8 sh.command
# expect 10 sh.command
# expect 12 sh.command
# expect 13 sh.command
