x='a[$(touch y)]'
echo $((x))
# expect 1 sh.command
# expect 2 sh.evaluated
