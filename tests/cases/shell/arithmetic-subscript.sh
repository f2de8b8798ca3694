x='a[$(touch y)]'
echo $((x))
b=(1 2)
b[1]=$(cat f)
echo $((b[1]))
((b[0] + 1))
# expect 1 sh.command
# expect 2 sh.evaluated
# expect 5 sh.evaluated
# expect 6 sh.evaluated
