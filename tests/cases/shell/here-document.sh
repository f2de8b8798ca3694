cat <<E
$(touch x)
E
# expect 2 sh.command
