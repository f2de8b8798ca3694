x='$(touch y)'
echo "${x@P}"
# expect 1 sh.command
# expect 2 sh.command
