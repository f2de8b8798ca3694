x='a[$(touch y)]'
echo $((x))
# expect 1 sh.command
